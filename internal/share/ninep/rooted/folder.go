package rooted

import (
	"io/fs"
	"os"

	"aibox/internal/share/ninep/proto"
	"aibox/internal/share/ninep/tree"
)

// Create implements tree.Maker.
func (n *node) Create(name string, flags, mode uint32, exclusive bool) (tree.Node, tree.File, error) {
	if mode&proto.SetIDBits != 0 {
		return nil, nil, proto.EPERM
	}
	at := n.below(name)
	f, err := n.folder.root.OpenFile(at, flagsOf(flags)|os.O_CREATE|os.O_EXCL, fs.FileMode(mode&0o777))
	if err == nil {
		made := n.folder.node(at)
		return made, &file{node: made, f: f, append: flags&proto.OpenAppend != 0}, nil
	}
	there, walkErr := n.Walk(name)
	if walkErr != nil || exclusive {
		if walkErr == nil {
			there.Close()
		}
		return nil, nil, err
	}
	opened, err := there.Open(flags)
	if err != nil {
		there.Close()
		return nil, nil, err
	}
	return there, opened, nil
}

// Mkdir implements tree.Maker.
func (n *node) Mkdir(name string, mode uint32) error {
	return n.folder.root.Mkdir(n.below(name), fs.FileMode(mode&0o777))
}

// Symlink implements tree.Maker: to make one takes rights that users do not have.
func (n *node) Symlink(string, string) error { return proto.EPERM }

// Link implements tree.Maker.
func (n *node) Link(name string, to tree.Node) error {
	old, ok := to.(*node)
	if !ok || old.folder != n.folder {
		return proto.EXDEV
	}
	info, err := n.folder.root.Lstat(old.at())
	if err == nil && !info.Mode().IsRegular() {
		err = proto.EPERM
	}
	if err != nil {
		return err
	}
	return n.folder.root.Link(old.at(), n.below(name))
}

// Remove implements tree.Folder.
func (n *node) Remove(name string, dir bool) error {
	at := n.below(name)
	info, err := n.folder.root.Lstat(at)
	switch {
	case err != nil:
		return err
	case dir && !info.IsDir():
		return proto.ENOTDIR
	case !dir && info.IsDir():
		return proto.EISDIR
	}
	if err := n.folder.root.Remove(at); err != nil {
		return n.inUse(at, err)
	}
	return nil
}

// inUse tells a folder that is not empty from other failures.
func (n *node) inUse(at string, err error) error {
	f, openErr := n.folder.root.Open(at)
	if openErr != nil {
		return err
	}
	defer f.Close()
	if names, _ := f.Readdirnames(1); len(names) > 0 {
		return proto.ENOTEMPTY
	}
	return err
}

// Rename implements tree.Folder.
func (n *node) Rename(name string, to tree.Node, newName string) error {
	other, ok := to.(*node)
	if !ok || other.folder != n.folder {
		return proto.EXDEV
	}
	from, at := n.below(name), other.below(newName)
	if err := n.folder.root.Rename(from, at); err != nil {
		return err
	}
	n.folder.moved(from, at)
	return nil
}
