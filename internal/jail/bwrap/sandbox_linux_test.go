package bwrap

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/internal/proc"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		os.Exit(probe(os.Args[2], os.Args[3], os.Args[4], len(os.Args) > 5))
	}
	if len(os.Args) > 1 && os.Args[1] == "parent" {
		os.Exit(parent(os.Args[2]))
	}
	os.Exit(m.Run())
}

// found returns bubblewrap, or skips where this machine cannot run it.
func found(t *testing.T) string {
	t.Helper()
	path, err := Find()
	if err != nil {
		t.Skipf("found %v, wanted bubblewrap", err)
	}
	cmd := proc.Cmd{Name: "true", Path: "/bin/true", Caged: true}
	if _, err := proc.Output(context.Background(), cmd); err != nil {
		t.Skipf("found %v, wanted unprivileged user namespaces", err)
	}
	return path
}

// of is the least sandbox that program runs in.
func of(program string, args ...string) (Sandbox, error) {
	libraries, path, err := Libraries(context.Background(), program)
	if err != nil {
		return Sandbox{}, err
	}
	real, err := filepath.EvalSymlinks(program)
	return Sandbox{Binds: libraries, LibraryPath: path, Program: program, Args: args,
		Held: []Bind{{Source: real, Dest: program}}}, err
}

func TestTakenOverProgramGetsNowhere(t *testing.T) {
	path := found(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	port, abstract := listeners(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Bound elsewhere, so that the folder of the test is not in the sandbox.
	s, err := of(exe, "probe", secret, port, abstract, "sandboxed")
	if err != nil {
		t.Fatal(err)
	}
	s.Program, s.Held[0].Dest = "/program", "/program"
	got := run(t, path, s)

	want := report{
		Env: []string{}, Root: []string{"dev", "proc", "program"}, Dev: []string{"null", "urandom", "zero"},
		Files: []int{0, 1, 2}, Processes: 2,
	}
	if len(s.LibraryPath) > 0 {
		want.Env = []string{"LD_LIBRARY_PATH=" + strings.Join(s.LibraryPath, ":")}
	}
	for _, l := range s.LibraryPath {
		want.Root = append(want.Root, strings.Split(l, "/")[1])
	}
	sortUnique(&want.Root)
	// Bubblewrap puts the folder it was started in there as PWD.
	for i, e := range got.Env {
		if e == "PWD=/" {
			got.Env = append(got.Env[:i], got.Env[i+1:]...)
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// The same attacks without the sandbox work where they need no root, so the test can fail.
	out, err := proc.Output(context.Background(), proc.Cmd{Name: "probe", Path: exe, Args: s.Args[:4]})
	if err != nil {
		t.Fatal(err)
	}
	var free report
	if err := json.Unmarshal(out, &free); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"read the secret by ", "connect to the host's loopback", "connect to an abstract socket"} {
		if !strings.Contains(strings.Join(free.Managed, "\n"), w) {
			t.Errorf("without the sandbox the probe did not manage to %s", w)
		}
	}
}

// run starts s, reads the report and waits for the end.
func run(t *testing.T, path string, s Sandbox) (r report) {
	t.Helper()
	gate, err := proc.NewGate(s.GateData())
	if err != nil {
		t.Fatal(err)
	}
	var h proc.Handover
	s.Gate = h.Give("gate", gate.Reader())
	out, err := proc.Output(context.Background(), proc.Cmd{Name: "probe", Path: path, Args: s.Arguments(),
		Files: h.Files(), Caged: true, Gate: gate})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return r
}

func listeners(t *testing.T) (port, abstract string) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	abstract = fmt.Sprintf("bwrap-test-%d", os.Getpid())
	un, err := net.Listen("unix", "@"+abstract)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tcp.Close(); un.Close() })
	_, port, _ = net.SplitHostPort(tcp.Addr().String())
	return port, abstract
}

func sortUnique(s *[]string) {
	seen := map[string]bool{}
	for _, v := range *s {
		seen[v] = true
	}
	*s = (*s)[:0]
	for _, v := range []string{"dev", "lib", "lib64", "proc", "program", "usr"} {
		if seen[v] {
			*s = append(*s, v)
		}
	}
}

// A bind by number shows the open folder, whatever its path is and leads to.
func TestBindByNumber(t *testing.T) {
	path := found(t)
	// With the name of the file in it and bubblewrap's own prefix it stays below the system's 4096.
	base := t.TempDir()
	long := base + strings.Repeat("/"+strings.Repeat("d", 199), 20)[:4000-len(base)]
	for name, folder := range map[string]string{
		"odd name": filepath.Join(t.TempDir(), "a b,c:d\nü"+strings.Repeat("x", 200)), "4000 bytes": long,
	} {
		t.Run(name, func(t *testing.T) {
			write(t, folder, "content")
			dir, err := os.Open(folder)
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			if got, err := bound(t, path, dir); got != "content" {
				t.Errorf("got %q, %v", got, err)
			}
			moved := filepath.Join(t.TempDir(), "moved")
			if err := os.Rename(folder, moved); err != nil {
				t.Fatal(err)
			}
			write(t, folder, "decoy")
			if got, err := bound(t, path, dir); got != "content" {
				t.Errorf("with a decoy at its path: got %q, %v", got, err)
			}
			// Bubblewrap finds the folder's path by the number: gone, it finds nothing.
			if err := os.RemoveAll(moved); err != nil {
				t.Fatal(err)
			}
			if got, err := bound(t, path, dir); err == nil {
				t.Errorf("a removed folder was shown: %q", got)
			}
		})
	}
}

func write(t *testing.T, folder, content string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "mine"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// bound reads the file "mine" of a folder in a sandbox.
func bound(t *testing.T, bwrap string, dir *os.File) (string, error) {
	t.Helper()
	s, err := of("/bin/cat", "/shares/x/mine")
	if err != nil {
		t.Fatal(err)
	}
	var h proc.Handover
	s.Binds = append(s.Binds, Bind{FD: h.Give("x", dir), Dest: "/shares/x"})
	out, err := proc.Output(context.Background(), proc.Cmd{Name: "cat", Path: bwrap, Args: s.Arguments(), Files: h.Files(), Caged: true})
	return string(out), err
}

// parent is a stand-in for aibox that starts a sandbox and waits to be killed.
func parent(mark string) int {
	path, err := Find()
	if err != nil {
		return 1
	}
	s, err := of("/bin/sleep", mark)
	if err != nil {
		return 1
	}
	fmt.Println("starting")
	p, err := s.Start(path, "sleep", &proc.Handover{}, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	<-p.Done()
	return 1
}

func TestSandboxDiesWithAibox(t *testing.T) {
	found(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	reached := 0
	for i := range 60 {
		mark := fmt.Sprintf("36000.%d%03d", os.Getpid(), i)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p, err := os.StartProcess(exe, []string{exe, "parent", mark}, &os.ProcAttr{Files: []*os.File{nil, w, os.Stderr}})
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, len("starting"))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond) // the random moment, not a wait
		if strings.Contains(processWith(mark, "/bin/sleep\x00"+mark), mark) {
			reached++
		}
		_ = p.Kill()
		_, _ = p.Wait()
		r.Close()
		for deadline := time.Now().Add(time.Second); ; {
			found := processWith(mark, mark)
			if found == "" {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("kill %d: lives on: %q", i, found)
			}
		}
	}
	t.Logf("%d of 60 kills came after the program had started", reached)
	if reached == 0 || reached == 60 {
		t.Errorf("all kills were early or all late (%d), so the moments in between were not tried", reached)
	}
}

// processWith returns the command line of a process whose command line starts
// with or holds the text.
func processWith(mark, text string) string {
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		cmdline, _ := os.ReadFile("/proc/" + d.Name() + "/cmdline")
		if mark == text && strings.Contains(string(cmdline), text) || strings.HasPrefix(string(cmdline), text) {
			return string(cmdline)
		}
	}
	return ""
}
