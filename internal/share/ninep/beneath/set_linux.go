package beneath

import (
	"os"

	"aibox/internal/share/ninep/proto"
	"aibox/internal/share/ninep/tree"

	"golang.org/x/sys/unix"
)

// Set implements tree.Node.
func (n *node) Set(s proto.SetAttr, open tree.File) error {
	if !proto.SetKnown(s.Valid) {
		return unix.EINVAL
	}
	st, err := n.stat()
	if err != nil {
		return err
	}
	if !keepsOwner(s, &st) {
		return unix.EPERM
	}
	f, _ := open.(*file)
	if s.Valid&proto.SetSize != 0 {
		if err := n.truncate(s.Size, &st, f); err != nil {
			return err
		}
	}
	if s.Valid&proto.SetMode != 0 {
		if err := n.chmod(s.Mode&proto.ModeBits, &st); err != nil {
			return err
		}
	}
	if s.Valid&(proto.SetATime|proto.SetMTime) != 0 {
		return n.setTimes(s)
	}
	return nil
}

// keepsOwner allows to give a file to whom it belongs, and to the host's user
// what is the user's: all files are.
func keepsOwner(s proto.SetAttr, st *unix.Stat_t) bool {
	return (s.Valid&proto.SetUID == 0 || s.UID == st.Uid) &&
		(s.Valid&proto.SetGID == 0 || s.GID == st.Gid || s.GID == uint32(os.Getgid()) && st.Uid == uint32(os.Getuid()))
}

// truncate works by an open file where there is one, which may be allowed more
// than the file's mode allows by now.
func (n *node) truncate(size uint64, st *unix.Stat_t, f *file) error {
	if int64(size) < 0 {
		return unix.EFBIG
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		return unix.EISDIR
	default:
		return unix.EINVAL
	}
	if f != nil && unix.Ftruncate(f.fd, int64(size)) == nil {
		return nil
	}
	fd, err := unix.Open(byNumber(n.fd), unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Ftruncate(fd, int64(size))
}

// chmod sets no set-id bit but those that a folder has: the file would hand the
// user's rights on to every other user of the host.
func (n *node) chmod(mode uint32, st *unix.Stat_t) error {
	has := uint32(0)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return unix.EOPNOTSUPP
	case unix.S_IFDIR:
		has = st.Mode & proto.SetIDBits
	}
	if mode&proto.SetIDBits&^has != 0 {
		return unix.EPERM
	}
	err := unix.Fchmodat(unix.AT_FDCWD, byNumber(n.fd), mode, 0)
	if err != unix.EPERM {
		return err
	}
	// Without a sandbox, modes can be set by open files alone.
	return n.opened(st, func(fd int) error { return unix.Fchmod(fd, mode) })
}

// setTimes sets what is given, and what is set without a time to now.
func (n *node) setTimes(s proto.SetAttr) error {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_OMIT}}
	for i, t := range []struct {
		set, to uint32
		time    proto.Time
	}{{proto.SetATime, proto.SetATimeTo, s.ATime}, {proto.SetMTime, proto.SetMTimeTo, s.MTime}} {
		switch {
		case s.Valid&t.set == 0:
		case s.Valid&t.to == 0:
			times[i].Nsec = unix.UTIME_NOW
		case t.time.Nsec >= 1e9:
			return unix.EINVAL
		default:
			times[i] = unix.Timespec{Sec: int64(t.time.Sec), Nsec: int64(t.time.Nsec)}
		}
	}
	err := unix.UtimesNanoAt(unix.AT_FDCWD, byNumber(n.fd), times[:], 0)
	if err != unix.EPERM {
		return err
	}
	st, err := n.stat()
	if err != nil {
		return err
	}
	return n.opened(&st, func(fd int) error { return setTimes(fd, &times) })
}

// opened calls do with the node opened, if it is a plain file or folder that its
// owner may open.
func (n *node) opened(st *unix.Stat_t, do func(fd int) error) error {
	kind := st.Mode & unix.S_IFMT
	if kind != unix.S_IFREG && kind != unix.S_IFDIR {
		return unix.EPERM
	}
	for _, access := range []int{unix.O_RDONLY, unix.O_WRONLY} {
		fd, err := unix.Open(byNumber(n.fd), access|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		defer unix.Close(fd)
		return do(fd)
	}
	return unix.EPERM
}
