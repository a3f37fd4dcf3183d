package beneath

import (
	"bytes"
	"encoding/binary"
	"sync"

	"aibox/internal/share/ninep/proto"

	"golang.org/x/sys/unix"
)

// file is a tree.File.
type file struct {
	node   *node
	fd     int
	shared bool // the node has the same handle

	mu   sync.Mutex // guards what follows, and the position of fd
	next uint64     // where fd stands in the folder
}

func (f *file) Close() {
	if !f.shared {
		unix.Close(f.fd)
	}
}

// ReadAt implements tree.File.
func (f *file) ReadAt(b []byte, offset int64) (int, error) { return f.move(unix.Pread, b, offset) }

// WriteAt implements tree.File.
func (f *file) WriteAt(b []byte, offset int64) (int, error) { return f.move(unix.Pwrite, b, offset) }

// move repeats a call that may move less than all of b. What went well before
// an error counts.
func (f *file) move(call func(fd int, b []byte, offset int64) (int, error), b []byte, offset int64) (int, error) {
	total := 0
	for total < len(b) {
		n, err := call(f.fd, b[total:], offset+int64(total))
		switch {
		case err == unix.EINTR:
		case err != nil && total == 0:
			return 0, err
		case err != nil || n == 0:
			return total, nil
		default:
			total += n
		}
	}
	return total, nil
}

// Sync implements tree.File.
func (f *file) Sync(dataOnly bool) error {
	if dataOnly {
		return unix.Fdatasync(f.fd)
	}
	return unix.Fsync(f.fd)
}

// Parts of the kernel's struct linux_dirent64.
const (
	direntOffset = 8
	direntSize   = 16
	direntType   = 18
	direntName   = 19
	minDirents   = 300 // bytes: one entry of the longest name
)

// Entries implements tree.File. The kernel's entries take at least 24 bytes
// where the protocol's take four more, so what 6/7 of the room hold always fits.
func (f *file) Entries(b []byte, offset uint64, max int) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if offset != f.next {
		if _, err := unix.Seek(f.fd, int64(offset), 0); err != nil {
			return b, err
		}
		f.next = offset
	}
	size := max / 7 * 6
	if size < minDirents {
		return b, unix.EINVAL
	}
	buffer := f.node.space.buffer(size)
	defer f.node.space.buffers.Put(buffer)
	n, err := unix.Getdents(f.fd, (*buffer)[:size])
	if err != nil {
		return b, err
	}
	st, err := f.node.stat()
	if err != nil {
		return b, err
	}
	for raw := (*buffer)[:n]; len(raw) >= direntName; {
		length := int(binary.NativeEndian.Uint16(raw[direntSize:]))
		if length < direntName || length > len(raw) {
			return b, unix.EIO
		}
		e := f.entry(raw[:length], &st)
		b = proto.AppendEntry(b, &e)
		f.next = e.Offset
		raw = raw[length:]
	}
	return b, nil
}

func (f *file) entry(raw []byte, dir *unix.Stat_t) proto.Entry {
	name := raw[direntName:]
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	e := proto.Entry{Offset: binary.NativeEndian.Uint64(raw[direntOffset:]), Type: raw[direntType], Name: string(name)}
	inode := binary.NativeEndian.Uint64(raw)
	if f.node.top && e.Name == ".." { // the VM knows of nothing above
		inode = dir.Ino
	}
	e.Qid.Path = f.node.space.path(dir.Dev, inode)
	switch e.Type {
	case unix.DT_DIR:
		e.Qid.Type = proto.QidDir
	case unix.DT_LNK:
		e.Qid.Type = proto.QidSymlink
	}
	return e
}
