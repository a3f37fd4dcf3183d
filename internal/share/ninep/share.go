package ninep

import (
	"slices"
	"sync/atomic"

	"aibox/internal/share/ninep/proto"
	"aibox/internal/share/ninep/tree"
)

// Share is one folder that is served.
type Share struct {
	Name     string
	Root     tree.Node // the server closes it
	ReadOnly bool
}

// held is a node that several fids may have.
type held struct {
	tree.Node
	share *Share
	refs  atomic.Int64
}

func hold(n tree.Node, s *Share) *held {
	h := &held{Node: n, share: s}
	h.refs.Store(1)
	return h
}

func (h *held) drop() {
	if h != nil && h.refs.Add(-1) == 0 {
		h.Close()
	}
}

// rootQid is that of the made-up root: no file's number on a real disk.
func rootQid() proto.Qid { return proto.Qid{Type: proto.QidDir, Path: 1<<63 - 1} }

func rootAttr(shares int) proto.Attr {
	return proto.Attr{
		Valid: proto.AttrBasic, Qid: rootQid(), Mode: proto.TypeDir | 0o555,
		Links: uint64(2 + shares), Block: 4096,
	}
}

// rootEntries are the entries of the made-up root from offset on.
func rootEntries(b []byte, shares []*Share, offset uint64, max int) []byte {
	room := len(b) + max
	list := []proto.Entry{{Qid: rootQid(), Name: "."}, {Qid: rootQid(), Name: ".."}}
	for _, s := range shares {
		e := proto.Entry{Qid: rootQid(), Name: s.Name}
		if a, err := s.Root.Attr(); err == nil {
			e.Qid = a.Qid
		}
		list = append(list, e)
	}
	for i := offset; i < uint64(len(list)); i++ {
		e := list[i]
		e.Offset, e.Type = i+1, 4
		if len(b)+proto.EntryOverhead+len(e.Name) > room {
			break
		}
		b = proto.AppendEntry(b, &e)
	}
	return b
}

func (s *Server) share(name string) *held {
	i := slices.IndexFunc(s.roots, func(h *held) bool { return h.share.Name == name })
	if i < 0 {
		return nil
	}
	return s.roots[i]
}
