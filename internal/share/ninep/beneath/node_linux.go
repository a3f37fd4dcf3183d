package beneath

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"aibox/internal/share/ninep/proto"
	"aibox/internal/share/ninep/tree"

	"golang.org/x/sys/unix"
)

// Space is what all shares of a VM have in common. It numbers their file systems,
// so that equal inode numbers of two are told apart.
type Space struct {
	mu      sync.Mutex
	devices map[uint64]uint64

	buffers sync.Pool // of *[]byte, for one read of a folder each
}

// maxDevices is how many file systems have numbers of their own.
const maxDevices = 1 << 15

// path makes one number of a file's two.
func (s *Space) path(device, inode uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.devices[device]
	if !ok && len(s.devices) < maxDevices {
		if s.devices == nil {
			s.devices = map[uint64]uint64{}
		}
		n = uint64(len(s.devices))
		s.devices[device] = n
	}
	return inode ^ n<<48
}

// buffer returns one of size bytes at least, to be put back into buffers. A folder
// has none of its own: a VM may keep tens of thousands of them open.
func (s *Space) buffer(size int) *[]byte {
	if b, ok := s.buffers.Get().(*[]byte); ok && len(*b) >= size {
		return b
	}
	b := make([]byte, size)
	return &b
}

// node is a tree.Node. Its handle is an O_PATH one, or that of a file which was
// just created.
type node struct {
	space *Space
	fd    int
	top   bool // the share's own folder
}

// New returns the node of a folder that is open. The folder stays the caller's.
func New(space *Space, dir *os.File) (tree.Node, error) {
	fd, err := openat(int(dir.Fd()), ".", unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("open the shared folder: %w", err)
	}
	return &node{space: space, fd: fd, top: true}, nil
}

// within makes the kernel refuse every way out of a folder, and every link.
const within = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS

// openat opens one name in a folder and no link that it may be. The kernel may
// ask for another try while somebody renames things.
func openat(dir int, name string, flags int, mode uint32) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_NOFOLLOW | unix.O_CLOEXEC), Mode: uint64(mode), Resolve: within}
	for range 100 {
		fd, err := unix.Openat2(dir, name, &how)
		if err != unix.EAGAIN && err != unix.EINTR {
			return fd, err
		}
	}
	return -1, unix.EAGAIN
}

// byNumber is the way to open a handle's very file again.
func byNumber(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

func (n *node) Close() { unix.Close(n.fd) }

func (n *node) stat() (st unix.Stat_t, err error) { return st, unix.Fstat(n.fd, &st) }

// Attr implements tree.Node.
func (n *node) Attr() (proto.Attr, error) {
	st, err := n.stat()
	if err != nil {
		return proto.Attr{}, err
	}
	return proto.Attr{
		Valid: proto.AttrBasic, Qid: n.space.qid(&st),
		Mode: st.Mode, UID: st.Uid, GID: st.Gid, Links: uint64(st.Nlink), Device: st.Rdev,
		Size: uint64(st.Size), Block: uint64(st.Blksize), Blocks: uint64(st.Blocks),
		ATime: at(st.Atim), MTime: at(st.Mtim), CTime: at(st.Ctim),
	}, nil
}

func at(t unix.Timespec) proto.Time { return proto.Time{Sec: uint64(t.Sec), Nsec: uint64(t.Nsec)} }

// qid has no version: the VM's kernel takes files with one for files that it may
// keep in its cache, and would not see what the host changes.
func (s *Space) qid(st *unix.Stat_t) proto.Qid {
	q := proto.Qid{Path: s.path(st.Dev, st.Ino)}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		q.Type = proto.QidDir
	case unix.S_IFLNK:
		q.Type = proto.QidSymlink
	}
	return q
}

// Walk implements tree.Folder.
func (n *node) Walk(name string) (tree.Node, error) {
	fd, err := openat(n.fd, name, unix.O_PATH, 0)
	if err != nil {
		return nil, err
	}
	return &node{space: n.space, fd: fd}, nil
}

// Readlink implements tree.Node.
func (n *node) Readlink() (string, error) {
	b := make([]byte, unix.PathMax)
	size, err := unix.Readlinkat(n.fd, "", b)
	if err != nil {
		if errors.Is(err, unix.ENOENT) { // the kernel's word for no link
			err = unix.EINVAL
		}
		return "", err
	}
	return string(b[:size]), nil
}

// StatFS implements tree.Node.
func (n *node) StatFS() (proto.StatFS, error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(n.fd, &st); err != nil {
		return proto.StatFS{}, err
	}
	return proto.StatFS{
		Type: 0x01021997, BlockSize: uint32(st.Bsize), Blocks: st.Blocks, Free: st.Bfree, Available: st.Bavail,
		Files: st.Files, FilesFree: st.Ffree, NameLength: uint32(st.Namelen),
	}, nil
}
