// Package tree is what a folder on the host is to the 9p server: nodes that
// stand for files, by handles or paths as the system allows, and open files.
// Two packages implement it: beneath for Linux, rooted for every system.
//
// Names are single steps that package names took. No implementation follows a
// symbolic link, the last step's included, or opens anything but plain files
// and folders. Errors are a proto.Errno or one that FromError knows.
package tree

import (
	"errors"
	"io/fs"

	"aibox/internal/share/ninep/proto"
)

// Node is a file, folder, link, or anything else that has a name. It means the
// same file whatever happens to the name, as far as the system has handles for it.
// Its methods may be called at once; none after Close.
type Node interface {
	Folder
	// Attr is what is known of the file itself, never of what a link leads to.
	Attr() (proto.Attr, error)
	// Set changes what s.Valid says. open is the file opened by Open, if it is.
	// No set-id bit is ever set, and the owner stays.
	Set(s proto.SetAttr, open File) error
	// Readlink returns a link's target.
	Readlink() (string, error)
	// StatFS is about the file system below.
	StatFS() (proto.StatFS, error)
	Close()
}

// Folder is the part of a node that works on what a folder holds.
type Folder interface {
	// Walk returns the node of a name.
	Walk(name string) (Node, error)
	// Open opens the node itself with flags of the protocol, of which the access,
	// truncation, appending and syncing count. What is neither a plain file nor a
	// folder is proto.ENXIO.
	Open(flags uint32) (File, error)
	Maker
	// Remove removes a name: of a folder if dir is set, else of anything else.
	Remove(name string, dir bool) error
	// Rename moves a name to another in a folder of the same share, over a file
	// that has it.
	Rename(name string, to Node, newName string) error
}

// Maker makes files in a folder.
type Maker interface {
	// Create makes a plain file, or opens the one there is unless exclusive is set.
	Create(name string, flags, mode uint32, exclusive bool) (Node, File, error)
	Mkdir(name string, mode uint32) error
	Symlink(name, target string) error
	// Link gives a file of the same share one more name.
	Link(name string, to Node) error
}

// File is an open file or folder. Its methods may be called at once; none after Close.
type File interface {
	ReadAt(b []byte, offset int64) (int, error) // fewer bytes only at the end, without an error
	WriteAt(b []byte, offset int64) (int, error)
	// Entries appends the entries of a folder from offset on to b, encoded, as
	// many as fit into max bytes. None are left when it appends nothing.
	Entries(b []byte, offset uint64, max int) ([]byte, error)
	Sync(dataOnly bool) error
	Close()
}

// FromError returns the number that the VM gets for an error.
func FromError(err error) proto.Errno {
	var own proto.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &own):
		return own
	}
	if number, ok := systemErrno(err); ok {
		return number
	}
	for _, known := range []struct {
		err  error
		code proto.Errno
	}{
		{fs.ErrNotExist, proto.ENOENT}, {fs.ErrExist, proto.EEXIST}, {fs.ErrPermission, proto.EACCES},
		{fs.ErrInvalid, proto.EINVAL}, {fs.ErrClosed, proto.EBADF}, {errors.ErrUnsupported, proto.EOPNOTSUPP},
	} {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	return proto.EIO
}
