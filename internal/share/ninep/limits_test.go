package ninep

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aibox/internal/share/ninep/proto"
	"aibox/test/heap"
	"aibox/test/ninecall"
)

func TestFidsAreBounded(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		s.fidLimit(t, MaxFids)
	})
}

func (s scene) fidLimit(t *testing.T, limit int) {
	t.Helper()
	work := s.walk("work")
	made := 2 // the attached one and work
	for ; made < limit+10; made++ {
		r := s.call(proto.Request{Type: proto.Twalk, Fid: work, NewFid: uint32(1000 + made)})
		if r.Errno == proto.ENFILE {
			break
		}
		if r.Errno != 0 {
			t.Fatal(r.Errno)
		}
	}
	if made != limit {
		t.Errorf("%d fids were made, want %d", made, limit)
	}
	s.must(proto.Request{Type: proto.Tclunk, Fid: 1002})
	s.must(proto.Request{Type: proto.Twalk, Fid: work, NewFid: 1002})
}

func TestNumbersAreTakenOnce(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		work := s.walk("work")
		other := s.walk("tools")
		s.refused(proto.Request{Type: proto.Twalk, Fid: work, NewFid: other}, proto.EINVAL)
		s.refused(proto.Request{Type: proto.Tattach, Fid: other, NewFid: proto.NoFid}, proto.EINVAL)
		s.refused(proto.Request{Type: proto.Tattach, Fid: proto.NoFid, NewFid: proto.NoFid}, proto.EINVAL)
		s.refused(proto.Request{Type: proto.Tattach, Fid: 50, NewFid: proto.NoFid, Name: "/etc"}, proto.EINVAL)
		s.refused(proto.Request{Type: proto.Tattach, Fid: 50, NewFid: work}, proto.EINVAL)
		s.clunk(other)
		for _, r := range []proto.Request{
			{Type: proto.Tclunk, Fid: other}, {Type: proto.Tgetattr, Fid: other}, {Type: proto.Tread, Fid: other, Count: 5},
			{Type: proto.Twrite, Fid: work}, {Type: proto.Tread, Fid: work, Count: 5}, {Type: proto.Treaddir, Fid: work, Count: 4096},
		} {
			s.refused(r, proto.EBADF)
		}
		s.must(proto.Request{Type: proto.Tlopen, Fid: work})
		s.refused(proto.Request{Type: proto.Tlopen, Fid: work}, proto.EINVAL)
		s.refused(proto.Request{Type: proto.Tremove, Fid: work}, proto.EOPNOTSUPP)
		s.refused(proto.Request{Type: proto.Tgetattr, Fid: work}, proto.EBADF)
		if _, err := s.conn.Write([]byte{7, 0, 0, 0, 200, 3, 0}); err != nil {
			t.Fatal(err)
		}
		if r, err := ninecall.Receive(s.conn); err != nil || r.Tag != 3 || r.Errno != proto.EOPNOTSUPP {
			t.Errorf("an unknown type: %+v, %v", r, err)
		}
	})
}

func TestVersionBeginsAnew(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		work := s.walk("work")
		if r := s.call(proto.Request{Type: proto.Tversion, Tag: proto.NoTag, Count: 8192, Name: proto.Version}); r.Count != 8192 {
			t.Errorf("%+v", r)
		}
		s.refused(proto.Request{Type: proto.Tgetattr, Fid: work}, proto.EBADF)
		s.must(proto.Request{Type: proto.Tattach, NewFid: proto.NoFid})
		fid := s.create("work", "f", strings.Repeat("x", 4000))
		s.write(fid, 4000, strings.Repeat("x", 8000))
		if r := s.must(proto.Request{Type: proto.Tread, Fid: fid, Count: 1 << 31}); len(r.Data) != 8192-proto.ReadOverhead {
			t.Errorf("%d bytes in an answer", len(r.Data))
		}
		for _, count := range []uint32{0, 1, minMessage - 1} {
			s.refused(proto.Request{Type: proto.Tversion, Count: count, Name: proto.Version}, proto.EINVAL)
		}
		if r := s.call(proto.Request{Type: proto.Tversion, Count: 1<<32 - 1, Name: "9P2000"}); r.Name != "unknown" || r.Count != MaxMessage {
			t.Errorf("%+v", r)
		}
	})
}

// What is no message of the protocol ends the connection with a reason.
func TestBrokenProtocol(t *testing.T) {
	version, _ := (&proto.Request{Type: proto.Tversion, Tag: proto.NoTag, Count: 8192, Name: proto.Version}).Append(nil)
	clunk, _ := (&proto.Request{Type: proto.Tclunk, Fid: 9}).Append(nil)
	answer, _ := (&proto.Response{Type: proto.Tclunk + 1}).Append(nil)
	long := binary.LittleEndian.AppendUint32(nil, 8193)
	for name, b := range map[string][]byte{
		"no version":        clunk,
		"size of nothing":   {0, 0, 0, 0, 100, 0, 0},
		"size of a header":  {6, 0, 0, 0, 100, 0, 0},
		"too long":          append(append([]byte{}, version...), append(long, proto.Twrite, 0, 0)...),
		"4 GiB":             {0xff, 0xff, 0xff, 0xff, 100, 0, 0},
		"cut off":           append(append([]byte{}, version...), 9, 0, 0, 0, proto.Tclunk, 0, 0, 1, 1),
		"an answer":         append(append([]byte{}, version...), answer...),
		"fields left over":  append(append([]byte{}, version...), 12, 0, 0, 0, proto.Tclunk, 0, 0, 1, 0, 0, 0, 7),
		"before it is over": append([]byte{8, 0, 0, 0, 100, 0, 0, 1}, version...),
	} {
		c := start(t, nil, Options{})
		go func() { _, _ = io.Copy(io.Discard, c.conn) }()
		_, _ = c.conn.Write(b)
		err := <-c.served
		if !errors.Is(err, errProtocol) {
			t.Errorf("%s: %v, want the protocol's error", name, err)
		}
		c.served <- nil // for the test's end
	}
	c := start(t, nil, Options{})
	c.conn.Close()
	if err := <-c.served; err != nil {
		t.Errorf("an end between messages: %v", err)
	}
	c.served <- nil
}

// Many requests at once, flushes of them, and fids that go away meanwhile.
func TestManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		s.create("work", "f", "text")
		const requests = 3000
		var received sync.WaitGroup
		received.Go(func() {
			for range requests {
				if _, err := ninecall.Receive(s.conn); err != nil {
					t.Error(err)
					return
				}
			}
		})
		for i := range requests {
			r := proto.Request{Tag: uint16(i), Fid: uint32(i % 7), NewFid: uint32(i*5) % 7, Name: fmt.Sprint(i % 3), Names: []string{"work", "f"}[:i%3], OldTag: uint16(i - 1)}
			r.Type = []uint8{proto.Twalk, proto.Tclunk, proto.Tflush, proto.Tgetattr, proto.Tlopen, proto.Tread, proto.Tattach, proto.Tlcreate}[i*i%8]
			if r.Type == proto.Tattach {
				r.NewFid, r.Name = proto.NoFid, ""
			}
			if r.Type != proto.Twalk {
				r.Names = nil
			}
			b, _ := r.Append(nil)
			if _, err := s.conn.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		received.Wait()
		s.untouched(t)
	})
}

// A VM may keep as many folders open as it may hold fids.
func TestOpenFoldersHoldNoBuffers(t *testing.T) {
	t.Run(kinds()[0], func(t *testing.T) {
		s := newScene(t, kinds()[0], Options{})
		before := heap.Live()
		const folders, each = 400, 16 << 10
		for range folders {
			fid := s.open("work", proto.OpenRead)
			s.must(proto.Request{Type: proto.Treaddir, Fid: fid, Count: MaxMessage})
		}
		if used := heap.Live() - before; used > folders*each {
			t.Errorf("%d KiB for each open folder, want at most %d", used/folders>>10, each>>10)
		}
	})
}

func TestManyEntries(t *testing.T) {
	t.Run(kinds()[0], func(t *testing.T) {
		s := newScene(t, kinds()[0], Options{})
		const many = 100000
		dir := filepath.Join(s.work, "many")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range many {
			f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		seen := map[string]bool{}
		for _, name := range s.list("work/many", 1<<20) {
			seen[name] = true
		}
		if len(seen) != many {
			t.Errorf("%d names, want %d", len(seen), many)
		}
	})
}
