package rooted

import (
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"aibox/internal/share/ninep/proto"
	"aibox/internal/share/ninep/tree"
)

// folder is a served folder with the nodes that live, whose paths change when
// the VM renames something above them.
type folder struct {
	root *os.Root

	mu    sync.RWMutex // guards nodes and every node's path
	nodes map[*node]struct{}
}

// node is a tree.Node at a path below the root, with slashes; "." is the root.
type node struct {
	folder *folder
	path   string
}

// New returns the node of a folder that is open by a root, which stays the caller's.
func New(root *os.Root) tree.Node {
	f := &folder{root: root, nodes: map[*node]struct{}{}}
	return f.node(".")
}

func (f *folder) node(at string) *node {
	n := &node{folder: f, path: at}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes[n] = struct{}{}
	return n
}

func (n *node) Close() {
	n.folder.mu.Lock()
	defer n.folder.mu.Unlock()
	delete(n.folder.nodes, n)
}

func (n *node) at() string {
	n.folder.mu.RLock()
	defer n.folder.mu.RUnlock()
	return n.path
}

func (n *node) below(name string) string { return path.Join(n.at(), name) }

// Attr implements tree.Node.
func (n *node) Attr() (proto.Attr, error) {
	at := n.at()
	info, err := n.folder.root.Lstat(at)
	if err != nil {
		return proto.Attr{}, err
	}
	size := uint64(info.Size())
	when := proto.Time{Sec: uint64(info.ModTime().Unix()), Nsec: uint64(info.ModTime().Nanosecond())}
	return proto.Attr{
		Valid: proto.AttrBasic, Qid: qid(at, info.Mode()), Mode: mode(info.Mode()),
		UID: owner(os.Getuid()), GID: owner(os.Getgid()), Links: 1,
		Size: size, Block: 4096, Blocks: (size + 511) / 512, ATime: when, MTime: when, CTime: when,
	}, nil
}

// owner is 0 where the system has no such numbers.
func owner(id int) uint32 { return uint32(max(id, 0)) }

func qid(at string, m fs.FileMode) proto.Qid {
	h := fnv.New64a()
	h.Write([]byte(at))
	q := proto.Qid{Path: h.Sum64()}
	switch {
	case m.IsDir():
		q.Type = proto.QidDir
	case m&fs.ModeSymlink != 0:
		q.Type = proto.QidSymlink
	}
	return q
}

// mode makes a mode of the protocol. What is neither file, folder nor link has
// no type, which the VM cannot open.
func mode(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	switch {
	case m.IsRegular():
		return bits | proto.TypeFile
	case m.IsDir():
		return bits | proto.TypeDir
	case m&fs.ModeSymlink != 0:
		return bits | proto.TypeSymlink
	}
	return bits
}

// Walk implements tree.Folder.
func (n *node) Walk(name string) (tree.Node, error) {
	if err := n.mustBeFolder(); err != nil {
		return nil, err
	}
	at := n.below(name)
	if _, err := n.folder.root.Lstat(at); err != nil {
		return nil, err
	}
	return n.folder.node(at), nil
}

func (n *node) mustBeFolder() error {
	info, err := n.folder.root.Lstat(n.at())
	if err == nil && !info.IsDir() {
		return proto.ENOTDIR
	}
	return err
}

// Open implements tree.Folder.
func (n *node) Open(flags uint32) (tree.File, error) {
	at := n.at()
	info, err := n.folder.root.Lstat(at)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, proto.ELOOP
	case info.IsDir() && flags&proto.OpenAccess != proto.OpenRead:
		return nil, proto.EISDIR
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, proto.ENXIO
	}
	f, err := n.folder.root.OpenFile(at, flagsOf(flags), 0)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		f.Close()
		return nil, errors.Join(proto.EIO, err) // it was swapped
	}
	return &file{node: n, f: f, append: flags&proto.OpenAppend != 0}, nil
}

// flagsOf leaves appending to WriteAt: os refuses to write at an offset then.
func flagsOf(flags uint32) int {
	f := []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDONLY}[flags&proto.OpenAccess]
	if flags&proto.OpenTruncate != 0 {
		f |= os.O_TRUNC
	}
	if flags&proto.OpenDataSync != 0 {
		f |= os.O_SYNC
	}
	return f
}

// Readlink implements tree.Node.
func (n *node) Readlink() (string, error) { return n.folder.root.Readlink(n.at()) }

// StatFS implements tree.Node: no system tells it in a portable way.
func (n *node) StatFS() (proto.StatFS, error) { return proto.StatFS{}, proto.EOPNOTSUPP }

// Set implements tree.Node.
func (n *node) Set(s proto.SetAttr, open tree.File) error {
	switch {
	case !proto.SetKnown(s.Valid):
		return proto.EINVAL
	case s.Valid&proto.SetUID != 0 && s.UID != owner(os.Getuid()), s.Valid&proto.SetGID != 0 && s.GID != owner(os.Getgid()):
		return proto.EPERM
	case s.Valid&proto.SetMode != 0 && s.Mode&proto.SetIDBits != 0:
		return proto.EPERM
	}
	info, err := n.folder.root.Lstat(n.at())
	if err != nil {
		return err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return proto.EOPNOTSUPP
	}
	if s.Valid&proto.SetSize != 0 {
		if err := n.truncate(int64(s.Size), open); err != nil {
			return err
		}
	}
	if s.Valid&proto.SetMode != 0 {
		if err := n.folder.root.Chmod(n.at(), fs.FileMode(s.Mode&0o777)); err != nil {
			return err
		}
	}
	if s.Valid&(proto.SetATime|proto.SetMTime) == 0 {
		return nil
	}
	return n.folder.root.Chtimes(n.at(), when(s, proto.SetATime, proto.SetATimeTo, s.ATime), when(s, proto.SetMTime, proto.SetMTimeTo, s.MTime))
}

// when is the zero time, which changes nothing, unless the time is to be set.
func when(s proto.SetAttr, set, to uint32, t proto.Time) time.Time {
	switch {
	case s.Valid&set == 0:
		return time.Time{}
	case s.Valid&to == 0:
		return time.Now()
	}
	return time.Unix(int64(t.Sec), int64(t.Nsec))
}

func (n *node) truncate(size int64, open tree.File) error {
	if size < 0 {
		return proto.EFBIG
	}
	if f, ok := open.(*file); ok && f.f.Truncate(size) == nil {
		return nil
	}
	again, err := n.Open(proto.OpenWrite)
	if err != nil {
		return err
	}
	defer again.Close()
	return again.(*file).f.Truncate(size)
}

// moved gives all nodes at and below a path their new one.
func (f *folder) moved(from, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := range f.nodes {
		if n.path == from {
			n.path = to
		} else if rest, ok := strings.CutPrefix(n.path, from+"/"); ok {
			n.path = to + "/" + rest
		}
	}
}
