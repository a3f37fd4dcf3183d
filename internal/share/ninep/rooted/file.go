package rooted

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"

	"aibox/internal/share/ninep/proto"
)

// file is a tree.File.
type file struct {
	node   *node
	f      *os.File
	append bool

	mu   sync.Mutex // guards what follows, and the end of the file when appending
	next uint64
	held []fs.DirEntry // read and not yet told
}

func (f *file) Close() { f.f.Close() }

// ReadAt implements tree.File.
func (f *file) ReadAt(b []byte, offset int64) (int, error) {
	n, err := f.f.ReadAt(b, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// WriteAt implements tree.File.
func (f *file) WriteAt(b []byte, offset int64) (int, error) {
	if f.append {
		f.mu.Lock()
		defer f.mu.Unlock()
		info, err := f.f.Stat()
		if err != nil {
			return 0, err
		}
		offset = info.Size()
	}
	return f.f.WriteAt(b, offset)
}

// Sync implements tree.File. Folders cannot be synced everywhere, and need not be.
func (f *file) Sync(bool) error {
	if info, err := f.f.Stat(); err == nil && info.IsDir() {
		return nil
	}
	return f.f.Sync()
}

// batch is how many entries are read at once.
const batch = 256

// Entries implements tree.File. An offset is the number of an entry; going back
// begins the folder again.
func (f *file) Entries(b []byte, offset uint64, max int) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if offset < f.next {
		if _, err := f.f.Seek(0, io.SeekStart); err != nil {
			return b, err
		}
		f.next, f.held = 0, nil
	}
	room := len(b) + max
	for first := true; ; {
		if len(f.held) == 0 {
			entries, err := f.f.ReadDir(batch)
			if len(entries) == 0 {
				if err == nil || errors.Is(err, io.EOF) {
					return b, nil
				}
				return b, err
			}
			f.held = entries
		}
		e := f.held[0]
		if f.next >= offset {
			if len(b)+proto.EntryOverhead+len(e.Name()) > room {
				if first {
					return b, proto.EINVAL
				}
				return b, nil
			}
			b, first = f.tell(b, e), false
		}
		f.held, f.next = f.held[1:], f.next+1
	}
}

// tell appends an entry.
func (f *file) tell(b []byte, e fs.DirEntry) []byte {
	const direntDir, direntFile, direntLink = 4, 8, 10
	entry := proto.Entry{Qid: qid(path.Join(f.node.at(), e.Name()), e.Type()), Offset: f.next + 1, Name: e.Name()}
	switch {
	case e.Type().IsDir():
		entry.Type = direntDir
	case e.Type().IsRegular():
		entry.Type = direntFile
	case e.Type()&fs.ModeSymlink != 0:
		entry.Type = direntLink
	}
	return proto.AppendEntry(b, &entry)
}
