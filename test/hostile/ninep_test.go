//go:build hostile

package hostile

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/internal/share"
	"aibox/internal/share/ninep"
	"aibox/internal/share/ninep/helper"
	"aibox/internal/share/ninep/proto"
	"aibox/test/ninecall"
)

const byNineP = "9p server"

// TestNinePInTheVM attacks the shares from inside a VM that has them by 9p.
func TestNinePInTheVM(t *testing.T) {
	x := newSceneOn(t, "9p", "9p: ")
	for _, group := range []func(*testing.T){x.outOfShares, x.readOnlyShare, x.rightsOnShares, x.acrossShares} {
		group(t)
	}
	attack(t, "9p: speak on the port beside the kernel", "the VM's kernel", false, func(t *testing.T) {
		x.vm.refused(t, "for p in /dev/vport*; do echo x > $p && exit 0; done; exit 1")
		x.vm.must(t, "ls /project/attacker")
	})
}

// client is a guest's kernel that speaks 9p to aibox's server as it likes.
type client struct {
	t      *testing.T
	conn   net.Conn
	server *helper.Server
	dir    string
}

// newClient starts a server with the shares project and m0, beside a secret.
func newClient(t *testing.T) *client {
	t.Helper()
	c := &client{t: t}
	var folders []share.Folder
	c.dir, folders = sharedFolders(t)
	var err error
	if c.server, err = helper.Start(folders, helper.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.server.Kill)
	if c.conn, err = net.FileConn(c.server.Socket()); err != nil {
		t.Fatal(err)
	}
	c.server.Socket().Close()
	t.Cleanup(func() { c.conn.Close() })
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	return c
}

func (c *client) begin() {
	c.t.Helper()
	for _, r := range []proto.Request{
		{Type: proto.Tversion, Tag: proto.NoTag, Count: 65536, Name: proto.Version}, {Type: proto.Tattach, NewFid: proto.NoFid},
		{Type: proto.Twalk, NewFid: 1, Names: []string{"project"}}, {Type: proto.Twalk, NewFid: 2, Names: []string{"m0"}},
		{Type: proto.Twalk, NewFid: 3, Names: []string{"project", "file"}},
	} {
		if got := c.call(r); got.Errno != 0 {
			c.t.Fatalf("control: %+v: %v", r, got.Errno)
		}
	}
}

func (c *client) call(r proto.Request) proto.Response {
	c.t.Helper()
	answer, err := ninecall.Call(c.conn, r)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer
}

// refused fails the test if a request works, and if the server does not live on.
func (c *client) refused(requests ...proto.Request) {
	c.t.Helper()
	for _, r := range requests {
		if got := c.call(r); got.Errno == 0 && !(r.Type == proto.Twalk && len(got.Qids) < len(r.Names)) {
			c.t.Errorf("%+v works: %+v", r, got)
		}
	}
	if got := c.call(proto.Request{Type: proto.Tgetattr, Fid: 3}); got.Errno != 0 {
		c.t.Errorf("control afterwards: %v", got.Errno)
	}
	c.untouched()
}

func (c *client) untouched() {
	c.t.Helper()
	for path, want := range map[string]string{"secret": marker, "m0/tool": "original"} {
		if b, err := os.ReadFile(filepath.Join(c.dir, path)); string(b) != want {
			c.t.Errorf("%s holds %q, %v", path, b, err)
		}
	}
	for dir, want := range map[string]int{".": 3, "m0": 1} {
		if entries, err := os.ReadDir(filepath.Join(c.dir, dir)); err != nil || len(entries) != want {
			c.t.Errorf("%s holds %v, %v", dir, entries, err)
		}
	}
}

// TestNinePServer attacks the server by messages that no kernel sends.
func TestNinePServer(t *testing.T) {
	for name, do := range sorted(map[string]func(c *client){
		"climb by names": func(c *client) {
			for _, name := range []string{"..", ".", "", "/", "../secret", "../../../etc/passwd", "/etc/passwd", "file/../../secret", "\x00", "..\x00"} {
				c.refused(
					proto.Request{Type: proto.Twalk, Fid: 1, NewFid: 9, Names: []string{name}}, proto.Request{Type: proto.Twalk, NewFid: 9, Names: []string{name}},
					proto.Request{Type: proto.Twalk, NewFid: 9, Names: []string{"project", name}}, proto.Request{Type: proto.Tmkdir, Fid: 1, Name: name},
					proto.Request{Type: proto.Tlcreate, Fid: 1, Name: name, Flags: 1, Mode: 0o644}, proto.Request{Type: proto.Tunlinkat, Fid: 1, Name: name},
					proto.Request{Type: proto.Trenameat, Fid: 1, Name: "file", NewFid: 1, Other: name},
					proto.Request{Type: proto.Trenameat, Fid: 1, Name: name, NewFid: 1, Other: "x"},
					proto.Request{Type: proto.Tlink, Fid: 1, NewFid: 3, Name: name}, proto.Request{Type: proto.Tsymlink, Fid: 1, Name: name, Other: "x"},
				)
			}
		},
		"follow links to the outside": func(c *client) {
			for i, target := range []string{"../secret", filepath.Join(c.dir, "secret"), "/", "..", "/proc/self/root"} {
				name, fid := fmt.Sprint("link", i), uint32(20+i)
				if got := c.call(proto.Request{Type: proto.Tsymlink, Fid: 1, Name: name, Other: target}); got.Errno != 0 {
					c.t.Fatalf("control: %v", got.Errno)
				}
				c.call(proto.Request{Type: proto.Twalk, Fid: 1, NewFid: fid, Names: []string{name}})
				c.refused(
					proto.Request{Type: proto.Tlopen, Fid: fid}, proto.Request{Type: proto.Twalk, Fid: fid, NewFid: 99, Names: []string{"secret"}},
					proto.Request{Type: proto.Tlopen, Fid: fid, Flags: proto.OpenWrite | proto.OpenTruncate},
					proto.Request{Type: proto.Tlcreate, Fid: fid, Name: "new", Flags: 1, Mode: 0o644}, proto.Request{Type: proto.Tmkdir, Fid: fid, Name: "new"},
					proto.Request{Type: proto.Tsetattr, Fid: fid, Set: proto.SetAttr{Valid: proto.SetSize}},
					proto.Request{Type: proto.Tsetattr, Fid: fid, Set: proto.SetAttr{Valid: proto.SetMode, Mode: 0o777}},
				)
				if got := c.call(proto.Request{Type: proto.Tlcreate, Fid: 1, Name: name, Flags: 1, Mode: 0o644}); got.Errno == 0 {
					c.t.Error("a file is created through a link")
				}
			}
		},
		"write what is read-only": func(c *client) {
			c.call(proto.Request{Type: proto.Twalk, Fid: 2, NewFid: 8, Names: []string{"tool"}})
			c.refused(
				proto.Request{Type: proto.Tlopen, Fid: 8, Flags: proto.OpenWrite}, proto.Request{Type: proto.Tlopen, Fid: 8, Flags: 3},
				proto.Request{Type: proto.Tlopen, Fid: 8, Flags: proto.OpenTruncate}, proto.Request{Type: proto.Tunlinkat, Fid: 2, Name: "tool"},
				proto.Request{Type: proto.Tlink, Fid: 1, NewFid: 8, Name: "linked"}, proto.Request{Type: proto.Trenameat, Fid: 2, Name: "tool", NewFid: 1, Other: "t"},
				proto.Request{Type: proto.Trenameat, Fid: 1, Name: "file", NewFid: 2, Other: "tool"}, proto.Request{Type: proto.Tmkdir, Fid: 2, Name: "x"},
				proto.Request{Type: proto.Tsetattr, Fid: 8, Set: proto.SetAttr{Valid: proto.SetMode, Mode: 0o777}},
			)
		},
		"change the root": func(c *client) {
			c.refused(
				proto.Request{Type: proto.Tmkdir, Name: "x"}, proto.Request{Type: proto.Tunlinkat, Name: "m0", Flags: proto.RemoveDir},
				proto.Request{Type: proto.Trenameat, Name: "m0", Other: "x"}, proto.Request{Type: proto.Tlcreate, Name: "x", Mode: 0o644},
			)
		},
		"forge fids and attach elsewhere": func(c *client) {
			for _, fid := range []uint32{77, 1 << 31, proto.NoFid, proto.NoFid - 1} {
				c.refused(
					proto.Request{Type: proto.Tread, Fid: fid, Count: 10}, proto.Request{Type: proto.Tclunk, Fid: fid}, proto.Request{Type: proto.Tremove, Fid: fid},
					proto.Request{Type: proto.Twalk, Fid: fid, NewFid: 9}, proto.Request{Type: proto.Tlink, Fid: 1, NewFid: fid, Name: "x"},
				)
			}
			c.refused(
				proto.Request{Type: proto.Twalk, Fid: 1, NewFid: 2}, proto.Request{Type: proto.Twalk, Fid: 1, NewFid: proto.NoFid},
				proto.Request{Type: proto.Tattach, Fid: 9, NewFid: proto.NoFid, Name: "/"}, proto.Request{Type: proto.Tattach, Fid: 9, NewFid: proto.NoFid, Name: "../"},
				proto.Request{Type: proto.Tauth, Fid: 9}, proto.Request{Type: proto.Txattrcreate, Fid: 3, Name: "security.capability", Mask: 20},
			)
		},
		"widen rights": func(c *client) {
			c.refused(
				proto.Request{Type: proto.Tlcreate, Fid: 1, Name: "su", Mode: 0o4755, Flags: 1}, proto.Request{Type: proto.Tmknod, Fid: 1, Name: "n", Mode: 0o020666, Major: 1, Minor: 1},
				proto.Request{Type: proto.Tmknod, Fid: 1, Name: "n", Mode: 0o104755}, proto.Request{Type: proto.Tsetattr, Fid: 3, Set: proto.SetAttr{Valid: proto.SetMode, Mode: 0o6755}},
				proto.Request{Type: proto.Tsetattr, Fid: 3, Set: proto.SetAttr{Valid: proto.SetUID, UID: 0}},
			)
		},
		"take all fids": func(c *client) {
			full := false
			for i := uint32(100); i < ninep.MaxFids+200 && !full; i++ {
				full = c.call(proto.Request{Type: proto.Twalk, Fid: 1, NewFid: i}).Errno != 0
			}
			if !full {
				c.t.Error("fids have no end")
			}
			c.refused()
		},
		"begin again and again": func(c *client) {
			for range 1000 {
				c.begin()
			}
			c.refused()
		},
	}) {
		attack(t, "9p server: "+name, byNineP, true, func(t *testing.T) {
			c := newClient(t)
			c.begin()
			do(c)
		})
	}
}

func after(a []byte, b ...byte) []byte { return append(append([]byte{}, a...), b...) }

// TestNinePBytes sends what is no message; the server must end, in little memory.
func TestNinePBytes(t *testing.T) {
	version, _ := (&proto.Request{Type: proto.Tversion, Tag: proto.NoTag, Count: 65536, Name: proto.Version}).Append(nil)
	huge, _ := (&proto.Request{Type: proto.Tversion, Tag: proto.NoTag, Count: 1<<32 - 1, Name: proto.Version}).Append(nil)
	for name, b := range sorted(map[string][]byte{
		"a message of 0 bytes":          {0, 0, 0, 0, 100, 0, 0},
		"a message of 4 GiB":            {0xff, 0xff, 0xff, 0xff, 100, 0, 0},
		"4 GiB after a huge size":       after(huge, 0xff, 0xff, 0xff, 0xff, proto.Twrite, 0, 0),
		"a write that claims too much":  after(version, 23, 0, 0, 0, proto.Twrite, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff),
		"a walk of 65535 names":         after(version, 17, 0, 0, 0, proto.Twalk, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff),
		"the server's own kind of type": after(version, 7, 0, 0, 0, proto.Tclunk+1, 0, 0),
		"no version":                    {11, 0, 0, 0, proto.Tclunk, 0, 0, 0, 0, 0, 0},
	}) {
		attack(t, "9p server: "+name, byNineP, false, func(t *testing.T) {
			c := newClient(t)
			if _, err := c.conn.Write(b); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, c.conn)
			select {
			case <-c.server.Done():
			case <-time.After(patience / 2):
				t.Fatal("the server goes on")
			}
			if err := c.server.Err(); err == nil || !strings.Contains(err.Error(), "9p protocol") {
				t.Errorf("the server's end: %v", err)
			}
			c.untouched()
		})
	}
}
