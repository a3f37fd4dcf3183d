//go:build unix

package project

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// childVariable tells the test binary that it is a child of asUser or of
// another test that needs a process of its own.
const childVariable = "AIBOX_TEST_CHILD"

func isChild() bool { return os.Getenv(childVariable) != "" }

// child returns a command that runs the one test again in another process. The
// test binary is copied to where any user may run it.
func child(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	binary := filepath.Join(dir, "project.test")
	in, err := os.Open(self)
	must(t, err)
	defer in.Close()
	out, err := os.OpenFile(binary, os.O_CREATE|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, err, out.Close())
	cmd := exec.Command(binary, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), childVariable+"=1", "TMPDIR="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Dir = dir
	return cmd
}

// openDir returns a new folder that every user can use.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "aibox-project-")
	must(t, err)
	t.Cleanup(func() {
		_ = exec.Command("chmod", "-R", "u+rwX", dir).Run()
		must(t, os.RemoveAll(dir))
	})
	must(t, os.Chmod(dir, 0o777|os.ModeSticky))
	return dir
}

// asUser runs the calling test as an ordinary user: it is true in the process
// that has to go on. Tests of rights mean nothing as root.
func asUser(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	const nobody = 65534
	cmd := child(t, openDir(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	runChild(t, cmd)
	return false
}

func runChild(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("as another process: %v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "--- PASS: "+t.Name()) {
		t.Fatalf("as another process the test did not run:\n%s", out.String())
	}
}
