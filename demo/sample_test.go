package demo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestSampleHasTheBugAndTheFixMendsIt(t *testing.T) {
	dir := t.TempDir()
	if err := WriteSample(dir); err != nil {
		t.Fatal(err)
	}
	if out := runIn(t, dir, false, "sh", "./test.sh"); !strings.Contains(out, failedLine) {
		t.Errorf("the test prints %q, want %q", out, failedLine)
	}
	old, now, err := mendedVersions(dir)
	if err != nil || string(old) != string(now) || strings.Count(string(old), brokenLine) != 1 {
		t.Fatalf("the file as written: %q, %v", now, err)
	}
	if err := checkFile(dir); err == nil {
		t.Error("the file counts as mended before it is")
	}
	fixed := strings.Replace(string(old), brokenLine, fixedLine, 1)
	if err := os.WriteFile(filepath.Join(dir, mendedFile), []byte(fixed), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := runIn(t, dir, true, "sh", "./test.sh"); !strings.Contains(out, passedLine) {
		t.Errorf("the test prints %q, want %q", out, passedLine)
	}
	if err := checkFile(dir); err != nil {
		t.Error(err)
	}
}

// TestSampleIsARepository asks git itself.
func TestSampleIsARepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("found no git in PATH")
	}
	dir := t.TempDir()
	if err := WriteSample(dir); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		return runIn(t, dir, true, "git", append([]string{"-c", "safe.directory=*"}, args...)...)
	}
	if out := git("fsck", "--strict", "--full"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		t.Errorf("git fsck: %s", out)
	}
	if out := git("status", "--porcelain"); out != "" {
		t.Errorf("git status: %q", out)
	}
	if out := git("log", "--format=%an %s", "main"); out != "aibox print minutes as hours\n" {
		t.Errorf("git log: %q", out)
	}
}

func TestReadMendedRefuses(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func(path string) error{
		"missing": func(string) error { return nil },
		"folder":  func(path string) error { return os.Mkdir(path, 0o700) },
		"link":    func(path string) error { return os.Symlink(outside, path) },
		"huge":    func(path string) error { return os.WriteFile(path, make([]byte, maxFile+1), 0o600) },
	} {
		dir := t.TempDir()
		if err := plant(filepath.Join(dir, mendedFile)); err != nil {
			t.Fatal(err)
		}
		if b, err := readMended(dir); err == nil || b != nil {
			t.Errorf("%s: read %d bytes, %v", name, len(b), err)
		}
	}
}

// runIn runs a command in dir and returns what it prints; it must end with
// success or not, as said.
func runIn(t *testing.T, dir string, success bool, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if (err == nil) != success {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}
