package beneath

import (
	"aibox/internal/share/ninep/proto"
	"aibox/internal/share/ninep/tree"

	"golang.org/x/sys/unix"
)

// flagsOf returns the kernel's flags for those of the protocol that count.
func flagsOf(flags uint32) int {
	f := int(flags & proto.OpenAccess)
	for _, pair := range [][2]int{
		{proto.OpenTruncate, unix.O_TRUNC}, {proto.OpenAppend, unix.O_APPEND},
		{proto.OpenSync, unix.O_SYNC}, {proto.OpenDataSync, unix.O_DSYNC},
	} {
		if int(flags)&pair[0] == pair[0] {
			f |= pair[1]
		}
	}
	return f
}

// Open implements tree.Folder. The type is the handle's, which cannot change.
func (n *node) Open(flags uint32) (tree.File, error) {
	st, err := n.stat()
	if err != nil {
		return nil, err
	}
	var fd int
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		fd, err = unix.Open(byNumber(n.fd), flagsOf(flags)|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	case unix.S_IFDIR:
		if flags&proto.OpenAccess != proto.OpenRead {
			return nil, unix.EISDIR
		}
		fd, err = openat(n.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	case unix.S_IFLNK:
		return nil, unix.ELOOP
	default:
		return nil, unix.ENXIO
	}
	if err != nil {
		return nil, err
	}
	return &file{node: n, fd: fd}, nil
}

// Create implements tree.Maker. An existing file is opened by its handle like any
// other, since it may be something that must not be opened.
func (n *node) Create(name string, flags, mode uint32, exclusive bool) (tree.Node, tree.File, error) {
	if mode&proto.SetIDBits != 0 {
		return nil, nil, unix.EPERM
	}
	fd, err := openat(n.fd, name, flagsOf(flags)|unix.O_CREAT|unix.O_EXCL|unix.O_NOCTTY|unix.O_NONBLOCK, mode&proto.ModeBits)
	if err == nil {
		made := &node{space: n.space, fd: fd}
		return made, &file{node: made, fd: fd, shared: true}, nil
	}
	if err != unix.EEXIST || exclusive {
		return nil, nil, err
	}
	there, err := n.Walk(name)
	if err != nil {
		return nil, nil, err
	}
	opened, err := there.Open(flags)
	if err != nil {
		there.Close()
		return nil, nil, err
	}
	return there, opened, nil
}

// Mkdir implements tree.Maker. The bits that mkdir ignores are what the VM's
// kernel says of a folder in a folder that hands its group on; the host's does that.
func (n *node) Mkdir(name string, mode uint32) error {
	return unix.Mkdirat(n.fd, name, mode&proto.ModeBits&^proto.SetIDBits)
}

// Symlink implements tree.Maker.
func (n *node) Symlink(name, target string) error { return unix.Symlinkat(target, n.fd, name) }

// Link implements tree.Maker.
func (n *node) Link(name string, to tree.Node) error {
	old, ok := to.(*node)
	if !ok {
		return proto.EXDEV
	}
	return unix.Linkat(unix.AT_FDCWD, byNumber(old.fd), n.fd, name, unix.AT_SYMLINK_FOLLOW)
}

// Remove implements tree.Folder.
func (n *node) Remove(name string, dir bool) error {
	flags := 0
	if dir {
		flags = unix.AT_REMOVEDIR
	}
	return unix.Unlinkat(n.fd, name, flags)
}

// Rename implements tree.Folder.
func (n *node) Rename(name string, to tree.Node, newName string) error {
	other, ok := to.(*node)
	if !ok {
		return proto.EXDEV
	}
	return unix.Renameat(n.fd, name, other.fd, newName)
}
