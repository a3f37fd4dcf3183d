//go:build vm

package vm

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aibox/internal/guest/link"
	guestsession "aibox/internal/guest/session"
	"aibox/internal/wire"
)

// initPath is how the kernel starts init.
const initPath = "/sbin/aibox-init"

// standInInit is the init of a VM whose task sends hostile results.
func standInInit() {
	err := standIn()
	fmt.Printf("\naibox-init: stand-in: %v\n", err)
}

// standIn boots as init does, as far as the host can see, and then sends the
// results that the config's variable CASE names.
func standIn() error {
	port, err := link.OpenPort(wire.PortName, 30*time.Second)
	if err != nil {
		return err
	}
	l, err := link.Dial(port)
	if err != nil {
		return err
	}
	control, err := l.Open(wire.ServiceControl)
	if err != nil {
		return err
	}
	var m wire.ToGuest
	if err := wire.ReadMessage(control, &m, wire.MaxToGuest); err != nil {
		return err
	}
	hostile := &hostileTask{}
	for _, v := range m.Boot.Env {
		if name, value, _ := strings.Cut(v, "="); name == "CASE" {
			hostile.send = hostileResults()[value].send
		} else if name == "START" {
			hostile.start = value
		}
	}
	if hostile.send == nil || !m.Boot.Task {
		return errors.New("no case of this test")
	}
	server, err := guestsession.New(guestsession.Options{
		HostKey: m.Boot.SSHHostKey, ClientKey: m.Boot.SSHClientKey,
		Environment: func(client []string) []string { return client },
	})
	if err != nil {
		return err
	}
	server.Open(hostile)
	if err := wire.WriteMessage(control, wire.ToHost{Ready: &wire.Ready{}}, wire.MaxToHost); err != nil {
		return err
	}
	go l.Serve(map[string]func(net.Conn){wire.ServiceSSH: server.Serve})
	return wire.ReadMessage(control, &m, wire.MaxToGuest)
}

// hostileTask is the launcher of a VM whose task sends what it likes.
type hostileTask struct {
	start string
	send  func(start string) []byte
}

func (h *hostileTask) Launch(c guestsession.Command) (guestsession.Process, error) {
	out, err := syscall.Dup(int(c.Stdio[1].Fd()))
	if err != nil {
		return nil, err
	}
	p := &hostileProcess{done: make(chan struct{})}
	go func() {
		f := os.NewFile(uintptr(out), "results")
		_, _ = f.Write(h.send(h.start))
		f.Close()
		close(p.done)
	}()
	return p, nil
}

type hostileProcess struct{ done chan struct{} }

func (p *hostileProcess) Done() <-chan struct{} { return p.done }
func (p *hostileProcess) Exit() (int, string)   { return 0, "" }
func (p *hostileProcess) Signal(string)         {}
func (p *hostileProcess) Close()                {}

func tarEntry(tar []byte, name, text string) []byte {
	h := wire.ResultHeader(name, int64(len(text)))
	return append(append(append(tar, h[:]...), text...), make([]byte, wire.ResultPadding(int64(len(text))))...)
}

func tarDone(tar []byte) []byte {
	return append(tarEntry(tar, wire.ResultFile, `{"outcome":"finished","last_message":"all is well"}`), make([]byte, 2*wire.ResultBlock)...)
}

// aBundle has the lines between signature and pack, and a pack that claims to
// hold so many objects.
func aBundle(lines string, objects uint32) string {
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), objects)
	pack = append(pack, bytes.Repeat([]byte("x"), 40)...)
	sum := sha1.Sum(pack)
	return "# v2 git bundle\n" + lines + "\n" + string(append(pack, sum[:]...))
}

type hostileCase struct {
	want string // in aibox's error
	send func(start string) []byte
}

// hostileResults are the results that no honest VM sends. Each but the last
// would count if one check were missing.
func hostileResults() map[string]hostileCase {
	tip := strings.Repeat("7", 40)
	bundle := func(lines func(start string) string, objects uint32) func(string) []byte {
		return func(start string) []byte {
			return tarDone(tarEntry(nil, wire.ChangesFile, aBundle(lines(start), objects)))
		}
	}
	raw := func(change func(h *[wire.ResultBlock]byte)) func(string) []byte {
		return func(string) []byte {
			h := wire.ResultHeader(wire.ChangesFile, 0)
			change(&h)
			return tarDone(h[:])
		}
	}
	good := func(s string) string { return "-" + s + " x\n" + tip + " " + wire.TaskRef + "\n" }
	return map[string]hostileCase{
		"wrong-name":        {"none of theirs", func(string) []byte { return tarDone(tarEntry(nil, "../config.yaml", "x")) }},
		"twice":             {"go on after", func(string) []byte { return tarDone(tarEntry(nil, wire.ResultFile, `{"outcome":"finished"}`)) }},
		"link":              {"plain file", raw(func(h *[wire.ResultBlock]byte) { h[156] = '2'; copy(h[157:], "/etc/passwd") })},
		"too-long":          {"over the limit", func(string) []byte { h := wire.ResultHeader(wire.ResultFile, wire.MaxResult+1); return h[:] }},
		"truncated":         {"too early", func(start string) []byte { return tarEntry(nil, wire.ChangesFile, aBundle(good(start), 1))[:600] }},
		"two-references":    {"2 references", bundle(func(s string) string { return good(s) + tip + " refs/heads/main\n" }, 1)},
		"another-reference": {"not refs/heads/aibox/task", bundle(func(s string) string { return "-" + s + " x\n" + tip + " refs/heads/main\n" }, 1)},
		"foreign-start":     {"another commit", bundle(func(string) string { return good(strings.Repeat("5", 40)) }, 1)},
		"lying-header":      {"no commit on top", bundle(func(s string) string { return "-" + s + " x\n" + s + " " + wire.TaskRef + "\n" }, 1)},
		"too-many-objects":  {"claims 4000000000 objects", bundle(good, 4000000000)},
		"no-end":            {"do not end", func(string) []byte { return append(tarDone(nil), "more"...) }},
	}
}

// withStandIn makes a copy of the test image with this binary as its init.
func withStandIn(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	env := readEnvironment()
	disk := filepath.Join(dir, "os.ext4")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"cp", "--sparse=always", filepath.Join(env.testImage, "vmlinuz"), dir},
		{"cp", "--sparse=always", filepath.Join(env.testImage, "os.ext4"), disk},
		{"chmod", "u+w", disk},
		{"/usr/sbin/debugfs", "-w", "-R", "rm /usr" + initPath, disk},
		{"/usr/sbin/debugfs", "-w", "-R", fmt.Sprintf("write %s /usr%s", self, initPath), disk},
		{"/usr/sbin/debugfs", "-w", "-R", fmt.Sprintf("sif /usr%s mode 0100755", initPath), disk},
	} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return dir
}

func TestTaskRefusesHostileResults(t *testing.T) {
	image := withStandIn(t)
	for name, c := range hostileResults() {
		t.Run(name, func(t *testing.T) {
			b := newTaskBox(t)
			b.image = image
			b.config(fmt.Sprintf("env: [ANTHROPIC_API_KEY, CASE=%s, START=%s]\n", name, b.git("rev-parse", "HEAD")))
			before := digest(t, b.project)
			s := b.startTask(&scriptedAPI{}, "be bad")
			if code := s.wait(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			checkLines(t, s.stderr.String())
			if !strings.Contains(s.stderr.String(), c.want) || strings.Contains(s.stderr.String(), "] finished") {
				t.Errorf("stderr lacks %q", c.want)
			}
			r := s.record()
			if r.Finished || r.Fetch != "" || r.Tip != "" || !strings.Contains(s.stderr.String(), "kept: "+s.folder()) {
				t.Errorf("record %+v", r)
			}
			if after := digest(t, b.project); after != before {
				t.Error("the project changed")
			}
			noneLeft(t)
		})
	}
}
