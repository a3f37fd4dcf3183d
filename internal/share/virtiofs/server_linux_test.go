package virtiofs

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/internal/fault"
	"aibox/internal/jail/bwrap"
	"aibox/internal/proc"
	"aibox/internal/share"

	"github.com/google/go-cmp/cmp"
)

// fakeBundle makes a bundle whose virtiofsd is the test binary.
func fakeBundle(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "a b:c,d")
	put := func(from, to string) {
		t.Helper()
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(exe, dir+bundleProgram)
	libraries, _, err := bwrap.Libraries(context.Background(), exe) // none but with -race
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range libraries {
		put(l.Source, filepath.Join(dir, "usr", strings.TrimPrefix(l.Dest, "/usr")))
	}
	return dir
}

func needSandbox(t *testing.T) {
	t.Helper()
	if _, err := bwrap.Find(); err != nil {
		t.Skipf("found %v, wanted bubblewrap", err)
	}
	if _, err := proc.Output(context.Background(), proc.Cmd{Name: "true", Path: "/bin/true", Caged: true}); err != nil {
		t.Skipf("found %v, wanted unprivileged user namespaces", err)
	}
	for _, path := range packaged() {
		if usable(context.Background(), path) {
			t.Skipf("found %s, wanted a machine whose bundle is used", path)
		}
	}
}

// open opens a new folder with an odd name.
func open(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b,c:d\nü\\")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func TestTakenOverServerGetsNowhere(t *testing.T) {
	needSandbox(t)
	project, mount := open(t), open(t)
	s, err := Start(context.Background(), []share.Folder{
		{Name: "project", Dir: project}, {Name: "m0", Dir: mount, ReadOnly: true},
	}, Options{Bundle: fakeBundle(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	b, err := io.ReadAll(s.Socket())
	if err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatalf("%v in %q", err, b)
	}
	want := report{
		Root: []string{"dev", "lib", "lib64", "proc", "shares", "usr"}, Shares: []string{"m0", "project"},
		Env: []string{"LD_LIBRARY_PATH=" + bundleLibraries, "PWD=/"},
		Results: map[string]string{
			"write the project": "", "chmod 755": "", "open with stray mode": "",
			"chmod setuid": "EPERM", "chmod setgid": "EPERM", "create setuid": "EPERM", "mknod setuid": "EPERM",
			"mkdir setgid": "EPERM", "make a device": "EPERM", "give the file to root": "EINVAL",
			"write a read-only folder": "EROFS", "write in the tree": "EROFS", "write in its own program": "EROFS",
			"remount it": "EPERM", "open a network socket to all": "ENETUNREACH", "make a user namespace": "ENOSPC",
		},
	}
	if os.Getuid() == 0 {
		want.Results["give the file to root"] = "" // it is root's already
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(project.Name(), "file")); err != nil {
		t.Error(err)
	}
	if left := names(mount.Name()); len(left) > 0 {
		t.Errorf("read-only folder has %q", left)
	}
}

func TestListenLeavesNoPath(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), strings.Repeat("long", 40)))
	if err := os.Mkdir(os.TempDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, connected, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	defer connected.Close()
	if left := names(os.TempDir()); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// TestServerThatPanics has a server of which only the thread that serves dies.
func TestServerThatPanics(t *testing.T) {
	needSandbox(t)
	s, err := Start(context.Background(), []share.Folder{{Name: "panic", Dir: open(t)}}, Options{Bundle: fakeBundle(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	select {
	case <-s.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the server lives on")
	}
	const want = "the VM's file server panicked: " + panicReason
	if err := s.Err(); err == nil || err.Error() != want || fault.HintOf(err) == "" {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

func TestServerThatFails(t *testing.T) {
	needSandbox(t)
	bundle := fakeBundle(t)
	if err := os.WriteFile(bundle+bundleProgram, []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := Start(context.Background(), []share.Folder{{Name: "project", Dir: open(t)}}, Options{Bundle: bundle})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the failed server does not end")
	}
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "virtiofsd ended with exit status 1: bwrap: execvp") {
		t.Errorf("got %v", err)
	}
	s.Kill()
}

func TestMissing(t *testing.T) {
	needSandbox(t)
	_, err := find(context.Background(), t.TempDir())
	if fault.KindOf(err) != fault.Machine || !strings.Contains(fault.HintOf(err), "make setup") {
		t.Errorf("got %v, hint %q", err, fault.HintOf(err))
	}
}
