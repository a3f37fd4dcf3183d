package ninep

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aibox/internal/share/ninep/proto"
	"aibox/internal/share/ninep/rooted"
	"aibox/internal/share/ninep/tree"
	"aibox/test/ninecall"
)

// client speaks to a server, one request at a time.
type client struct {
	t      testing.TB
	conn   net.Conn
	served chan error
	next   uint32 // fid
}

// kinds are the ways to serve a folder on this system.
func kinds() []string {
	if runtime.GOOS == "linux" {
		return []string{"beneath", "rooted"}
	}
	return []string{"rooted"}
}

// rootOf returns a folder's node of a kind.
func rootOf(t testing.TB, kind, dir string) tree.Node {
	t.Helper()
	if kind == "beneath" {
		return beneathRoot(t, dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return rooted.New(root)
}

// scene is a writable folder "work" and a read-only folder "tools" with a file
// "tool", served, beside a folder "outside" with a secret.
type scene struct {
	*client
	base, work, tools, outside string
}

func newScene(t testing.TB, kind string, o Options) scene {
	t.Helper()
	base := t.TempDir()
	s := scene{base: base, work: filepath.Join(base, "work"), tools: filepath.Join(base, "tools"), outside: filepath.Join(base, "outside")}
	for _, dir := range []string{s.work, s.tools, s.outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(s.tools, "tool"), "original")
	put(t, filepath.Join(s.outside, "secret"), "secret")
	s.client = dial(t, []Share{
		{Name: "work", Root: rootOf(t, kind, s.work)},
		{Name: "tools", Root: rootOf(t, kind, s.tools), ReadOnly: true},
	}, o)
	return s
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// start serves without saying anything yet.
func start(t testing.TB, shares []Share, o Options) *client {
	t.Helper()
	a, b := net.Pipe()
	c := &client{t: t, conn: a, served: make(chan error, 1)}
	go func() { c.served <- Serve(b, shares, o) }()
	t.Cleanup(func() {
		a.Close()
		<-c.served
	})
	return c
}

func dial(t testing.TB, shares []Share, o Options) *client {
	t.Helper()
	c := start(t, shares, o)
	if r := c.call(proto.Request{Type: proto.Tversion, Tag: proto.NoTag, Count: 1 << 20, Name: proto.Version}); r.Count != MaxMessage || r.Name != proto.Version {
		t.Fatalf("version %+v", r)
	}
	c.must(proto.Request{Type: proto.Tattach, Fid: 0, NewFid: proto.NoFid})
	return c
}

// call sends a request and returns the answer.
func (c *client) call(r proto.Request) proto.Response {
	c.t.Helper()
	answer, err := ninecall.Call(c.conn, r)
	if err != nil {
		c.t.Fatal(err)
	}
	if answer.Tag != r.Tag || answer.Type != r.Type+1 && answer.Type != proto.Rlerror {
		c.t.Fatalf("answer to type %d: %+v", r.Type, answer)
	}
	return answer
}

func (c *client) must(r proto.Request) proto.Response {
	c.t.Helper()
	answer := c.call(r)
	if answer.Errno != 0 {
		c.t.Fatalf("%+v: %v", r, answer.Errno)
	}
	return answer
}

// refused fails the test unless the answer is one of the errors.
func (c *client) refused(r proto.Request, want ...proto.Errno) {
	c.t.Helper()
	got := c.call(r).Errno
	for _, w := range want {
		if got == w {
			return
		}
	}
	c.t.Errorf("%+v: %v, want %v", r, got, want)
}

// walk returns a new fid of a path from the root.
func (c *client) walk(path string) uint32 {
	c.t.Helper()
	fid, code := c.tryWalk(path)
	if code != 0 {
		c.t.Fatalf("walk to %s: %v", path, code)
	}
	return fid
}

func (c *client) tryWalk(path string) (uint32, proto.Errno) {
	c.t.Helper()
	var names []string
	if path != "" {
		names = strings.Split(path, "/")
	}
	c.next++
	r := c.call(proto.Request{Type: proto.Twalk, Fid: 0, NewFid: c.next, Names: names})
	if r.Errno != 0 {
		return 0, r.Errno
	}
	if len(r.Qids) < len(names) {
		return 0, proto.ENOENT
	}
	return c.next, 0
}

func (c *client) open(path string, flags uint32) uint32 {
	c.t.Helper()
	fid := c.walk(path)
	c.must(proto.Request{Type: proto.Tlopen, Fid: fid, Flags: flags})
	return fid
}

// create makes a file and returns its fid, open for reading and writing.
func (c *client) create(dir, name, text string) uint32 {
	c.t.Helper()
	fid := c.walk(dir)
	c.must(proto.Request{Type: proto.Tlcreate, Fid: fid, Name: name, Flags: proto.OpenReadWrite, Mode: 0o644})
	if text != "" {
		c.write(fid, 0, text)
	}
	return fid
}

func (c *client) write(fid uint32, offset uint64, text string) {
	c.t.Helper()
	if r := c.must(proto.Request{Type: proto.Twrite, Fid: fid, Offset: offset, Data: []byte(text)}); int(r.Count) != len(text) {
		c.t.Errorf("wrote %d of %d bytes", r.Count, len(text))
	}
}

func (c *client) read(fid uint32) string {
	c.t.Helper()
	return string(c.must(proto.Request{Type: proto.Tread, Fid: fid, Count: 4096}).Data)
}

func (c *client) attr(path string) proto.Attr {
	c.t.Helper()
	fid := c.walk(path)
	defer c.clunk(fid)
	return c.must(proto.Request{Type: proto.Tgetattr, Fid: fid, Mask: proto.AttrBasic}).Attr
}

func (c *client) clunk(fid uint32) {
	c.t.Helper()
	c.must(proto.Request{Type: proto.Tclunk, Fid: fid})
}

// list returns the names in a folder, read with little room at a time.
func (c *client) list(path string, room uint32) []string {
	c.t.Helper()
	fid := c.open(path, proto.OpenRead)
	defer c.clunk(fid)
	var names []string
	for offset := uint64(0); ; {
		b := c.must(proto.Request{Type: proto.Treaddir, Fid: fid, Offset: offset, Count: room}).Data
		if len(b) == 0 {
			return names
		}
		for len(b) > 0 {
			var e proto.Entry
			var ok bool
			if b, ok = proto.ParseEntry(b, &e); !ok {
				c.t.Fatal("an entry is cut off")
			}
			if offset = e.Offset; e.Name != "." && e.Name != ".." {
				names = append(names, e.Name)
			}
		}
	}
}
