package ninep

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"aibox/internal/share/ninep/proto"
)

// untouched fails the test when anything but the writable share changed.
func (s scene) untouched(t *testing.T) {
	t.Helper()
	for dir, want := range map[string]int{s.base: 3, s.tools: 1, s.outside: 1} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
			t.Errorf("%s holds %v, %v", filepath.Base(dir), entries, err)
		}
	}
	for path, want := range map[string]string{filepath.Join(s.tools, "tool"): "original", filepath.Join(s.outside, "secret"): "secret"} {
		if b, err := os.ReadFile(path); string(b) != want {
			t.Errorf("%s holds %q, %v", filepath.Base(path), b, err)
		}
		if fi, err := os.Stat(path); err != nil || fi.Mode() != 0o644 {
			t.Errorf("%s: %v, %v", filepath.Base(path), fi, err)
		}
	}
}

// script reads a session out of a fuzzer's bytes.
type script struct{ b []byte }

func (s *script) next() byte {
	if len(s.b) == 0 {
		return 0
	}
	v := s.b[0]
	s.b = s.b[1:]
	return v
}

func (s *script) name() string {
	list := []string{"a", "b", "sub", "link", "work", "tools", "tool", "secret", "outside", "..", ".", "", "/", "../outside", "a/b", "\x00"}
	return list[int(s.next())%len(list)]
}

func (s *script) request() proto.Request {
	types := []uint8{
		proto.Twalk, proto.Twalk, proto.Twalk, proto.Tlopen, proto.Tlcreate, proto.Tmkdir, proto.Tsymlink, proto.Tlink,
		proto.Trenameat, proto.Tunlinkat, proto.Tread, proto.Twrite, proto.Treaddir, proto.Tgetattr, proto.Tsetattr,
		proto.Treadlink, proto.Tclunk, proto.Tmknod, proto.Tfsync, proto.Tstatfs, proto.Tattach, proto.Tremove,
		proto.Tlock, proto.Tgetlock, proto.Txattrwalk, proto.Trename, proto.Tflush, proto.Tauth,
	}
	r := proto.Request{
		Type: types[int(s.next())%len(types)], Tag: 1,
		Fid: uint32(s.next() % 8), NewFid: uint32(s.next() % 8), Name: s.name(), Count: uint32(s.next()) << 4,
	}
	r.Other = []string{s.name(), "../outside", "../tools/tool", "/etc/passwd"}[s.next()%4]
	r.Flags, r.Mode = uint32(s.next())<<4|uint32(s.next()&3), uint32(s.next())<<4|0o600
	r.Offset = uint64(s.next())
	r.Data = []byte("data")
	r.Set = proto.SetAttr{Valid: uint32(s.next()) | uint32(s.next())<<8, Mode: r.Mode, Size: r.Offset}
	if r.Type == proto.Twalk {
		for range s.next() % 4 {
			r.Names = append(r.Names, s.name())
		}
	}
	return r
}

// Whatever a VM asks for, in whatever order, nothing outside of its writable
// folders changes, nothing of the outside is read, and every request has an answer.
func FuzzSession(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 4, 6, 1, 2, 3, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0})
	seed := make([]byte, 600)
	for i := range seed {
		seed[i] = byte(i * 37 / 5)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range kinds() {
			s := newScene(t, kind, Options{MaxFids: 6})
			play := script{b}
			for range 64 {
				if len(play.b) == 0 {
					break
				}
				r := s.call(play.request())
				if string(r.Data) == "secret" {
					t.Error("the secret was read")
				}
			}
			s.untouched(t)
		}
	})
}

// Bytes that are no messages end the connection and nothing else.
func FuzzServe(f *testing.F) {
	version, _ := (&proto.Request{Type: proto.Tversion, Tag: proto.NoTag, Count: 8192, Name: proto.Version}).Append(nil)
	attach, _ := (&proto.Request{Type: proto.Tattach, NewFid: proto.NoFid}).Append(nil)
	walk, _ := (&proto.Request{Type: proto.Twalk, NewFid: 1, Names: []string{"work", "x"}}).Append(nil)
	f.Add(append(append(version, attach...), walk...))
	f.Add([]byte{0, 0, 0, 0, 100, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 100, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		c := start(t, []Share{{Name: "work", Root: rootOf(t, kinds()[0], dir), ReadOnly: true}}, Options{MaxFids: 4})
		go func() { _, _ = io.Copy(io.Discard, c.conn) }()
		_, _ = c.conn.Write(b) // an error is the server's end
		c.conn.Close()
	})
}
