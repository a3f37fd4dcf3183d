package helper

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"aibox/internal/proc"
	"aibox/internal/share"
	"aibox/internal/share/ninep/proto"
	"aibox/test/ninecall"
)

// The test binary is the server.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		os.Exit(Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

type client struct {
	*testing.T
	conn net.Conn
}

func (c client) call(r proto.Request) proto.Response {
	c.Helper()
	answer, err := ninecall.Call(c.conn, r)
	if err != nil {
		c.Fatal(err)
	}
	return answer
}

func (c client) must(r proto.Request) proto.Response {
	c.Helper()
	answer := c.call(r)
	if answer.Errno != 0 {
		c.Errorf("%+v: %v", r, answer.Errno)
	}
	return answer
}

func serve(t *testing.T, noSandbox bool) (client, *Server, string) {
	t.Helper()
	base := t.TempDir()
	var folders []share.Folder
	for _, name := range []string{"work", "tools"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(base, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		folders = append(folders, share.Folder{Name: name, Dir: f, ReadOnly: name == "tools"})
	}
	s, err := Start(folders, Options{NoSandbox: noSandbox, Lax: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	conn, err := net.FileConn(s.Socket())
	if err != nil {
		t.Fatal(err)
	}
	s.Socket().Close()
	t.Cleanup(func() { conn.Close() })
	c := client{t, conn}
	c.must(proto.Request{Type: proto.Tversion, Tag: proto.NoTag, Count: 65536, Name: proto.Version})
	c.must(proto.Request{Type: proto.Tattach, NewFid: proto.NoFid})
	return c, s, base
}

// All that a VM may do works under the server's policy, with a sandbox and without.
func TestServesUnderItsPolicy(t *testing.T) {
	for _, noSandbox := range []bool{false, true} {
		name := map[bool]string{false: "sandbox", true: "none"}[noSandbox]
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("bwrap"); err != nil && !noSandbox {
				t.Skip("found no bubblewrap")
			}
			c, s, base := serve(t, noSandbox)
			everything(c, !noSandbox)
			c.conn.Close()
			<-s.Done()
			if err := s.Err(); err != nil {
				t.Errorf("the server's end: %v", err)
			}
			text, err := os.ReadFile(filepath.Join(base, "work", "sub", "moved"))
			if err != nil || string(text) != "hello" {
				t.Errorf("the host reads %q, %v", text, err)
			}
		})
	}
}

func everything(c client, modes bool) {
	walk := func(fid uint32, names ...string) {
		c.Helper()
		if r := c.must(proto.Request{Type: proto.Twalk, NewFid: fid, Names: names}); len(r.Qids) != len(names) {
			c.Errorf("walk to %q: %d steps", names, len(r.Qids))
		}
	}
	walk(1, "work")
	c.must(proto.Request{Type: proto.Tmkdir, Fid: 1, Name: "sub", Mode: 0o755})
	walk(2, "work", "sub")
	walk(3, "work")
	c.must(proto.Request{Type: proto.Tlcreate, Fid: 3, Name: "f", Flags: proto.OpenReadWrite, Mode: 0o644})
	c.must(proto.Request{Type: proto.Twrite, Fid: 3, Data: []byte("hello")})
	c.must(proto.Request{Type: proto.Tfsync, Fid: 3})
	c.must(proto.Request{Type: proto.Tsetattr, Fid: 3, Set: proto.SetAttr{Valid: proto.SetSize, Size: 5}})
	for _, mode := range []uint32{0o600, 0, 0o640} {
		if !modes && mode == 0 {
			continue // nobody can open it any more, and without a sandbox that takes an open file
		}
		c.must(proto.Request{Type: proto.Tsetattr, Fid: 3, Set: proto.SetAttr{Valid: proto.SetMode, Mode: mode}})
	}
	c.must(proto.Request{Type: proto.Tsetattr, Fid: 3, Set: proto.SetAttr{Valid: proto.SetMTime | proto.SetMTimeTo, MTime: proto.Time{Sec: 1000}}})
	if r := c.must(proto.Request{Type: proto.Tgetattr, Fid: 3}); r.Attr.MTime.Sec != 1000 || r.Attr.Mode != proto.TypeFile|0o640 && modes {
		c.Errorf("attr %+v", r.Attr)
	}
	c.must(proto.Request{Type: proto.Tsymlink, Fid: 1, Name: "link", Other: "/etc/passwd"})
	walk(4, "work", "link")
	if r := c.must(proto.Request{Type: proto.Treadlink, Fid: 4}); r.Name != "/etc/passwd" {
		c.Errorf("link to %q", r.Name)
	}
	if r := c.call(proto.Request{Type: proto.Tlopen, Fid: 4}); r.Errno != proto.ELOOP {
		c.Errorf("opening a link: %v", r.Errno)
	}
	c.must(proto.Request{Type: proto.Tlink, Fid: 2, NewFid: 3, Name: "second"})
	c.must(proto.Request{Type: proto.Trenameat, Fid: 1, Name: "f", NewFid: 2, Other: "moved"})
	c.must(proto.Request{Type: proto.Tunlinkat, Fid: 2, Name: "second"})
	c.must(proto.Request{Type: proto.Tstatfs, Fid: 2})
	c.must(proto.Request{Type: proto.Tlopen, Fid: 2})
	if r := c.must(proto.Request{Type: proto.Treaddir, Fid: 2, Count: 8192}); len(r.Data) == 0 {
		c.Error("the folder is empty")
	}
	walk(5, "tools")
	if r := c.call(proto.Request{Type: proto.Tmkdir, Fid: 5, Name: "x"}); r.Errno != proto.EROFS {
		c.Errorf("a folder in a read-only share: %v", r.Errno)
	}
}

// A message that is none ends the server with a reason.
func TestBrokenProtocolEndsTheServer(t *testing.T) {
	c, s, _ := serve(t, true)
	if _, err := c.conn.Write([]byte{1, 0, 0, 0, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	var exit *proc.ExitError
	if err := s.Err(); !errors.As(err, &exit) || exit.LastLine == "" {
		t.Errorf("the server's end: %v", err)
	}
	if pids := s.Processes(); len(pids) != 1 || slices.Contains(pids, os.Getpid()) {
		t.Errorf("processes %v", pids)
	}
}
