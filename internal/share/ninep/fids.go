package ninep

import (
	"sync"

	"aibox/internal/share/ninep/proto"
	"aibox/internal/share/ninep/tree"
)

// fid is a file that the VM holds under a number. Whoever works with it holds a
// reference, so that the VM can give the number back at any moment.
type fid struct {
	node *held // nil for the made-up root
	refs int   // guarded by fids.mu, as file and open are
	file tree.File
	open bool // for the root, which has no file

	empty emptyReads
}

// fids are a session's fids.
type fids struct {
	mu    sync.Mutex
	limit int
	byNum map[uint32]*fid
}

// get returns a fid with a reference for the caller.
func (f *fids) get(number uint32) (*fid, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.byNum[number]
	if x == nil {
		return nil, proto.EBADF
	}
	x.refs++
	return x, nil
}

// put gives a reference back.
func (f *fids) put(x *fid) {
	f.mu.Lock()
	x.refs--
	last := x.refs == 0
	f.mu.Unlock()
	if !last {
		return
	}
	if x.file != nil {
		x.file.Close()
	}
	x.node.drop()
}

// add gives a number to a fid. With replace the number may be taken, by the
// very fid old that was worked with.
func (f *fids) add(number uint32, x, old *fid) error {
	f.mu.Lock()
	taken := f.byNum[number]
	if number == proto.NoFid || taken != old {
		f.mu.Unlock()
		return proto.EINVAL
	}
	if taken == nil && len(f.byNum) >= f.limit {
		f.mu.Unlock()
		return proto.ENFILE
	}
	x.refs = 1
	f.byNum[number] = x
	f.mu.Unlock()
	if taken != nil {
		f.put(taken)
	}
	return nil
}

// opened notes the file of a fid, unless the fid has one.
func (f *fids) opened(x *fid, file tree.File) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x.open {
		return false
	}
	x.file, x.open = file, true
	return true
}

func (f *fids) fileOf(x *fid) (tree.File, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return x.file, x.open
}

// remove takes a number back.
func (f *fids) remove(number uint32) error {
	f.mu.Lock()
	x := f.byNum[number]
	delete(f.byNum, number)
	f.mu.Unlock()
	if x == nil {
		return proto.EBADF
	}
	f.put(x)
	return nil
}

// clear takes all numbers back.
func (f *fids) clear() {
	f.mu.Lock()
	all := f.byNum
	f.byNum = map[uint32]*fid{}
	f.mu.Unlock()
	for _, x := range all {
		f.put(x)
	}
}
