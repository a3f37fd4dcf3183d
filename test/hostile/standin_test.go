//go:build hostile

package hostile

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aibox/internal/image"
	"aibox/internal/share"
	"aibox/internal/share/virtiofs"
	"aibox/internal/vm"
	"aibox/internal/vm/qemu"
)

// target and result are the attacker's, see test/hostile/attacker.
type target struct {
	Secret, Marker, Scratch string
	Port                    int
	Unix, Abstract          string
	PID                     int
	Key                     string
	Shm                     int
	Do                      string
	Bare                    bool
	Role                    string
	Writable, ReadOnly      []string
	FDs                     map[string]int
}

type result struct {
	Name string
	Open bool
	Text string
}

const marker = "the user's secret"

// newTarget makes what the attacker goes for. All of it can be had without a sandbox.
func newTarget(t *testing.T) target {
	t.Helper()
	dir, err := os.MkdirTemp("", "") // short enough for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	x := target{Secret: filepath.Join(dir, "secret"), Marker: marker, Scratch: filepath.Join(dir, "scratch"), Unix: filepath.Join(dir, "socket"), Abstract: "aibox-hostile-" + filepath.Base(dir)}
	if err := os.WriteFile(x.Secret, []byte(marker), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(x.Scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(x.Scratch, "read-only"), []byte(marker), 0o444); err != nil {
		t.Fatal(err)
	}
	x.serve(t)
	victim := exec.Command("sleep", "600")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = victim.Process.Kill(); _ = victim.Wait() })
	x.PID = victim.Process.Pid
	x.Key = x.Abstract
	if _, err := unix.AddKey("user", x.Key, []byte(marker), unix.KEY_SPEC_SESSION_KEYRING); err != nil {
		t.Logf("no keyring here: %v", err)
	}
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	x.Shm = id
	return x
}

// serve answers the marker on TCP, UDP and two unix sockets.
func (x *target) serve(t *testing.T) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x.Port = tcp.Addr().(*net.TCPAddr).Port
	listeners := []net.Listener{tcp}
	for _, name := range []string{x.Unix, "@" + x.Abstract} {
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
	}
	for _, l := range listeners {
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 100)) // closed before, the client could not send
				_, _ = io.WriteString(c, marker)
				c.Close()
			}
		}()
	}
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { udp.Close() })
	go func() {
		b := make([]byte, 100)
		for {
			_, from, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = udp.WriteTo([]byte(marker), from)
		}
	}()
}

func (x target) word(t *testing.T) string {
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// withoutSandbox returns the names of the attacks that work without any.
func withoutSandbox(t *testing.T, x target) map[string]bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), readEnvironment().attacker, "bare", x.word(t)).CombinedOutput()
	if err != nil {
		t.Fatalf("the attacker without a sandbox: %v\n%s", err, out)
	}
	works := map[string]bool{}
	for _, r := range parseResults(t, bytes.NewReader(out)) {
		works[r.Name] = r.Open
	}
	return works
}

// parseResults reads lines up to the last one of a report.
func parseResults(t *testing.T, r io.Reader) (results []result) {
	t.Helper()
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var one result
		if json.Unmarshal(lines.Bytes(), &one) != nil || one.Name == "" {
			continue
		}
		if one.Name == "done" {
			return results
		}
		results = append(results, one)
	}
	t.Fatalf("the attacker's report has no end; it has %d lines", len(results))
	return nil
}

// needed are attacks whose control has to work on every machine.
func needed() []string {
	return []string{
		"read the user's file by its path", "read the user's file by an inherited file", "list the user's folder", "write into the user's folder",
		"make a read-only file writable and open it again", "connect to a port of the host's loopback", "send a packet to the host's loopback",
		"connect to a socket by its path", "connect to a socket by its abstract name", "see processes of the user", "signal a process of the user",
		"read the memory of a process of the user", "start a program of the host", "attach the user's shared memory", "see the user's environment",
	}
}

// judge makes a line of the table of each result.
func judge(t *testing.T, who, guard string, results []result, works map[string]bool) {
	t.Helper()
	for _, name := range needed() {
		if !works[name] {
			t.Errorf("control: %q does not work without a sandbox", name)
		}
	}
	if len(results) < 40 {
		t.Errorf("%s tried only %d attacks", who, len(results))
	}
	for _, r := range results {
		if !r.Open && r.Text == "not tried here" {
			continue
		}
		attack(t, who+": "+r.Name, guard, works[r.Name], func(t *testing.T) {
			if r.Open || strings.HasPrefix(r.Text, "panic") || strings.HasPrefix(r.Text, "no end") {
				t.Errorf("%s", r.Text)
			}
			t.Log(r.Text)
		})
	}
}

// machine starts the attacker in QEMU's place and returns it and its console's path.
func machine(t *testing.T, x target, noSandbox bool) (vm.Machine, string) {
	t.Helper()
	dir := t.TempDir()
	img, err := image.Open(copyImage(t), image.Digests{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	console, err := os.Create(filepath.Join(dir, "console.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { console.Close() })
	state, err := os.Create(filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	if err := state.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	m, err := qemu.Backend{StandIn: readEnvironment().attacker, NoSandbox: noSandbox}.Start(t.Context(), vm.Spec{
		Memory: 512, CPUs: 1, Kernel: img.Kernel, RootDisk: img.RootDisk, StateDisk: state, Console: console, KernelArgs: []string{"hostile=" + x.word(t)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Kill)
	return m, console.Name()
}

// copyImage makes an image of the user's own: that is what a user has below
// ~/.aibox, and its owner can do more with it than with one of root's.
func copyImage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{image.KernelName, image.RootDiskName} {
		if out, err := exec.Command("cp", "--sparse=always", "--reflink=auto", filepath.Join(readEnvironment().testImage, name), dir).CombinedOutput(); err != nil {
			t.Fatalf("cp: %v\n%s", err, out)
		}
	}
	if err := os.Chmod(filepath.Join(dir, image.RootDiskName), 0o444); err != nil {
		t.Fatal(err)
	}
	return dir
}

// awaitReport waits until the file holds the end of a report.
func awaitReport(t *testing.T, path string, done <-chan struct{}, why func() error) []byte {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
		b, _ := os.ReadFile(path)
		if bytes.Contains(b, []byte(`{"Name":"done"}`)) {
			return b
		}
		select {
		case <-tick.C:
		case <-done:
			t.Fatalf("the attacker ended: %v\n%s", why(), tail(string(b), 500))
		case <-deadline:
			t.Fatalf("no report within %v\n%s", patience, tail(string(b), 500))
		}
	}
}

func TestTakenOverQEMU(t *testing.T) {
	x := newTarget(t)
	works := withoutSandbox(t, x)
	m, log := machine(t, x, false)
	report := awaitReport(t, log, m.Done(), m.Err)
	judge(t, "QEMU", "bubblewrap", parseResults(t, bytes.NewReader(report)), works)
}

func TestTakenOverVirtiofsd(t *testing.T) {
	x := newTarget(t)
	x.Writable, x.ReadOnly = []string{"/shares/project", "/shares/home"}, []string{"/shares/m0"}
	works := withoutSandbox(t, x)
	var folders []share.Folder
	dir := t.TempDir()
	for _, name := range []string{"project", "home", "m0"} {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		folders = append(folders, share.Folder{Name: name, Dir: f, ReadOnly: name == "m0"})
	}
	if err := os.WriteFile(filepath.Join(dir, "m0", "tool"), []byte("original"), 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "project", "target.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := virtiofs.Start(t.Context(), folders, virtiofs.Options{StandIn: readEnvironment().attacker})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	report := awaitReport(t, filepath.Join(dir, "project", "results.json"), s.Done(), s.Err)
	judge(t, "virtiofsd", "bubblewrap", parseResults(t, bytes.NewReader(report)), works)
	if got, err := os.ReadFile(filepath.Join(dir, "m0", "tool")); err != nil || string(got) != "original" {
		t.Errorf("the read-only share's file holds %q, %v", got, err)
	}
	names, err := os.ReadDir(filepath.Join(dir, "m0"))
	if err != nil || len(names) != 1 || slices.ContainsFunc(names, func(e os.DirEntry) bool { return e.Name() != "tool" }) {
		t.Errorf("the read-only share holds %v, %v", names, err)
	}
}
