package ninep

import (
	"time"

	"aibox/internal/share/ninep/proto"
)

// doNode answers what is asked of a file of a share.
func (w *worker) doNode(x *fid, answer *proto.Response) error {
	r := &w.request
	if changes(r) && x.node.share.ReadOnly {
		return proto.EROFS
	}
	var err error
	switch r.Type {
	case proto.Twalk:
		return w.walk(x, answer)
	case proto.Tgetattr:
		answer.Attr, err = x.node.Attr()
	case proto.Tsetattr:
		file, _ := w.fids.fileOf(x)
		return x.node.Set(r.Set, file)
	case proto.Tlopen:
		return w.open(x, answer)
	case proto.Tread, proto.Treaddir, proto.Twrite, proto.Tfsync:
		return w.useFile(x, answer)
	case proto.Treadlink:
		answer.Name, err = x.node.Readlink()
	case proto.Tstatfs:
		answer.StatFS, err = x.node.StatFS()
	case proto.Tlock:
		answer.Status = proto.LockSuccess
	case proto.Tgetlock:
		unlocked(r, answer)
	default:
		return w.change(x, answer)
	}
	return err
}

// changes tells whether a request would change a file or folder.
func changes(r *proto.Request) bool {
	switch r.Type {
	case proto.Tsetattr, proto.Twrite, proto.Tlcreate, proto.Tsymlink, proto.Tmknod, proto.Tlink,
		proto.Tmkdir, proto.Trenameat, proto.Tunlinkat:
		return true
	case proto.Tlopen:
		return r.Flags&proto.OpenAccess != proto.OpenRead || r.Flags&proto.OpenTruncate != 0
	}
	return false
}

// open opens a fid. An I/O unit of 0 lets the VM use the longest messages.
func (w *worker) open(x *fid, answer *proto.Response) error {
	if _, open := w.fids.fileOf(x); open {
		return proto.EINVAL
	}
	a, err := x.node.Attr()
	if err != nil {
		return err
	}
	file, err := x.node.Open(w.request.Flags)
	if err != nil {
		return err
	}
	if !w.fids.opened(x, file) {
		file.Close()
		return proto.EINVAL
	}
	answer.Qid = a.Qid
	return nil
}

// useFile answers what is asked of an open file.
func (w *worker) useFile(x *fid, answer *proto.Response) error {
	r := &w.request
	file, _ := w.fids.fileOf(x)
	if file == nil {
		return proto.EBADF
	}
	offset := int64(r.Offset)
	if offset < 0 && r.Type != proto.Treaddir {
		return proto.EINVAL
	}
	switch r.Type {
	case proto.Tread:
		return w.fill(func(b []byte, max int) ([]byte, error) {
			n, err := file.ReadAt(b[len(b):len(b)+max], offset)
			if err == nil && x.empty.endless(r.Offset, n, time.Now()) {
				err = proto.EIO
			}
			return b[:len(b)+n], err
		})
	case proto.Treaddir:
		return w.fill(func(b []byte, max int) ([]byte, error) { return file.Entries(b, r.Offset, max) })
	case proto.Twrite:
		n, err := file.WriteAt(r.Data, offset)
		answer.Count = uint32(n)
		return err
	}
	return file.Sync(r.Flags&1 != 0)
}

// fill has get append at most max bytes of data to the answer, in place.
func (w *worker) fill(get func(b []byte, max int) ([]byte, error)) error {
	room := min(w.request.Count, w.limit-proto.ReadOverhead)
	if whole := int(room) + proto.ReadOverhead; cap(w.out) < whole {
		w.out = make([]byte, 0, w.limit)
	}
	out, err := get(w.out[:proto.ReadOverhead], int(room))
	if err != nil {
		return err
	}
	proto.PutDataHeader(out, w.request.Type+1, w.request.Tag, len(out)-proto.ReadOverhead)
	w.out, w.ready = out, true
	return nil
}

// change answers what changes a folder.
func (w *worker) change(x *fid, answer *proto.Response) error {
	r := &w.request
	if err := w.check(r.Name); err != nil {
		return err
	}
	switch r.Type {
	case proto.Tlcreate:
		return w.create(x, answer)
	case proto.Tmkdir:
		return w.made(x, answer, x.node.Mkdir(r.Name, r.Mode))
	case proto.Tsymlink:
		return w.made(x, answer, x.node.Symlink(r.Name, r.Other))
	case proto.Tmknod:
		return w.makeFile(x, answer)
	case proto.Tunlinkat:
		return x.node.Remove(r.Name, r.Flags&proto.RemoveDir != 0)
	}
	other, err := w.fids.get(r.NewFid)
	if err != nil {
		return err
	}
	defer w.fids.put(other)
	switch {
	case other.node == nil:
		return proto.EROFS
	case other.node.share != x.node.share:
		return proto.EXDEV
	case r.Type == proto.Tlink:
		return x.node.Link(r.Name, other.node.Node)
	}
	if err := w.check(r.Other); err != nil {
		return err
	}
	return x.node.Rename(r.Name, other.node.Node, r.Other)
}

// create makes a file and opens it in the place of its folder's fid.
func (w *worker) create(x *fid, answer *proto.Response) error {
	const exclusive = 0o200
	r := &w.request
	if _, open := w.fids.fileOf(x); open {
		return proto.EINVAL
	}
	node, file, err := x.node.Create(r.Name, r.Flags, r.Mode, r.Flags&exclusive != 0)
	if err != nil {
		return err
	}
	made := &fid{node: hold(node, x.node.share), file: file, open: true}
	a, err := node.Attr()
	if err == nil {
		err = w.fids.add(r.Fid, made, x)
	}
	if err != nil {
		file.Close()
		made.node.drop()
		return err
	}
	answer.Qid = a.Qid
	return nil
}

// makeFile makes a plain file. Everything else that has no contents of its own
// would be opened by the host's programs as what it is there.
func (w *worker) makeFile(x *fid, answer *proto.Response) error {
	r := &w.request
	if kind := r.Mode & proto.TypeMask; kind != proto.TypeFile && kind != 0 {
		return proto.EPERM
	}
	node, file, err := x.node.Create(r.Name, proto.OpenWrite, r.Mode&^proto.TypeMask, true)
	if err != nil {
		return err
	}
	a, err := node.Attr()
	answer.Qid = a.Qid
	file.Close()
	node.Close()
	return err
}

// made answers with the file that a request made, by its name.
func (w *worker) made(x *fid, answer *proto.Response, err error) error {
	if err != nil {
		return err
	}
	node, err := x.node.Walk(w.request.Name)
	if err != nil {
		return err
	}
	defer node.Close()
	a, err := node.Attr()
	answer.Qid = a.Qid
	return err
}
