package ninep

import (
	"aibox/internal/share/ninep/names"
	"aibox/internal/share/ninep/proto"
	"aibox/internal/share/ninep/tree"
)

// known tells whether a message's type is a request's.
func known(kind uint8) bool {
	switch kind {
	case proto.Tstatfs, proto.Tlopen, proto.Tlcreate, proto.Tsymlink, proto.Tmknod, proto.Trename, proto.Treadlink,
		proto.Tgetattr, proto.Tsetattr, proto.Txattrwalk, proto.Txattrcreate, proto.Treaddir, proto.Tfsync, proto.Tlock,
		proto.Tgetlock, proto.Tlink, proto.Tmkdir, proto.Trenameat, proto.Tunlinkat, proto.Tversion, proto.Tauth,
		proto.Tattach, proto.Tflush, proto.Twalk, proto.Tread, proto.Twrite, proto.Tclunk, proto.Tremove:
		return true
	}
	return false
}

// handle fills w.out with the answer to w.request.
func (w *worker) handle() {
	w.ready = false
	answer := proto.Response{Type: w.request.Type + 1, Tag: w.request.Tag}
	err := w.do(&answer)
	if err == nil && w.ready {
		return
	}
	if err != nil {
		answer = proto.Response{Type: proto.Rlerror, Tag: w.request.Tag, Errno: tree.FromError(err)}
	}
	out, ok := answer.Append(w.out[:0])
	if !ok || uint32(len(out)) > w.limit {
		answer = proto.Response{Type: proto.Rlerror, Tag: w.request.Tag, Errno: proto.EIO}
		out, _ = answer.Append(out[:0])
	}
	w.out = out
}

// do does what needs no fid, or makes or ends one.
func (w *worker) do(answer *proto.Response) error {
	r := &w.request
	switch r.Type {
	case proto.Tflush:
		if w.flushed != nil {
			<-w.flushed
		}
		return nil
	case proto.Tattach:
		return w.attach(answer)
	case proto.Tclunk:
		return w.fids.remove(r.Fid)
	case proto.Tremove: // v9fs uses Tunlinkat. Whatever a Tremove answers, the fid is gone
		if err := w.fids.remove(r.Fid); err != nil {
			return err
		}
		return proto.EOPNOTSUPP
	case proto.Tauth, proto.Trename, proto.Txattrwalk, proto.Txattrcreate:
		return proto.EOPNOTSUPP
	}
	if !known(r.Type) {
		return proto.EOPNOTSUPP
	}
	x, err := w.fids.get(r.Fid)
	if err != nil {
		return err
	}
	defer w.fids.put(x)
	if x.node == nil {
		return w.doRoot(x, answer)
	}
	return w.doNode(x, answer)
}

func (w *worker) attach(answer *proto.Response) error {
	r := &w.request
	if r.NewFid != proto.NoFid || r.Name != "" {
		return proto.EINVAL // no Tauth came before, and there is one tree
	}
	answer.Qid = rootQid()
	return w.fids.add(r.Fid, &fid{}, nil)
}

// doRoot answers what is asked of the made-up root: it can be read.
func (w *worker) doRoot(x *fid, answer *proto.Response) error {
	r := &w.request
	switch r.Type {
	case proto.Twalk:
		return w.walk(x, answer)
	case proto.Tgetattr:
		answer.Attr = rootAttr(len(w.shares))
	case proto.Tstatfs:
		answer.StatFS = proto.StatFS{Type: 0x01021997, BlockSize: 4096, NameLength: 255}
	case proto.Tlopen:
		if r.Flags&(proto.OpenAccess|proto.OpenTruncate) != proto.OpenRead {
			return proto.EISDIR
		}
		answer.Qid = rootQid()
		if !w.fids.opened(x, nil) {
			return proto.EINVAL
		}
	case proto.Treaddir:
		if _, open := w.fids.fileOf(x); !open {
			return proto.EBADF
		}
		return w.fill(func(b []byte, max int) ([]byte, error) {
			return rootEntries(b, w.shares, r.Offset, max), nil
		})
	case proto.Tread:
		return proto.EISDIR
	case proto.Treadlink:
		return proto.EINVAL
	case proto.Tfsync, proto.Tlock:
	case proto.Tgetlock:
		unlocked(r, answer)
	default:
		return proto.EROFS
	}
	return nil
}

// unlocked answers a Tgetlock. Locks are the VM's kernel's, which asks here only
// when it knows of none: the host's programs are no part of them.
func unlocked(r *proto.Request, answer *proto.Response) {
	answer.Lock = r.Lock
	answer.Lock.Type = proto.LockUnlocked
}

// walk makes a new fid of a file some names away. Fewer names are no error, but
// make none.
func (w *worker) walk(x *fid, answer *proto.Response) error {
	r := &w.request
	if _, open := w.fids.fileOf(x); open && len(r.Names) > 0 {
		return proto.EINVAL
	}
	at := x.node
	if at != nil {
		at.refs.Add(1)
	}
	for i, name := range r.Names {
		next, qid, err := w.step(at, name)
		if err != nil {
			at.drop()
			if i == 0 {
				return err
			}
			return nil
		}
		at.drop()
		at = next
		answer.Qids = append(answer.Qids, qid)
	}
	var old *fid
	if r.NewFid == r.Fid {
		old = x
	}
	made := &fid{node: at}
	if err := w.fids.add(r.NewFid, made, old); err != nil {
		at.drop()
		return err
	}
	return nil
}

func (w *worker) step(at *held, name string) (*held, proto.Qid, error) {
	if at == nil {
		if at = w.share(name); at == nil {
			return nil, proto.Qid{}, proto.ENOENT
		}
		at.refs.Add(1)
	} else {
		if err := w.check(name); err != nil {
			return nil, proto.Qid{}, err
		}
		node, err := at.Walk(name)
		if err != nil {
			return nil, proto.Qid{}, err
		}
		at = hold(node, at.share)
	}
	a, err := at.Attr()
	if err != nil {
		at.drop()
		return nil, proto.Qid{}, err
	}
	return at, a.Qid, nil
}

func (w *worker) check(name string) error {
	if code := names.Check(w.system, name); code != 0 {
		return code
	}
	return nil
}
