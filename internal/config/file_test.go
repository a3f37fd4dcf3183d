package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aibox/internal/fault"
)

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	must(os.Symlink("folder", filepath.Join(dir, "link-to-folder")))
	must(os.Symlink("nothing", filepath.Join(dir, "dangling")))
	must(os.Symlink("loop", filepath.Join(dir, "loop")))
	must(os.WriteFile(filepath.Join(dir, "big"), []byte(strings.Repeat("#\n", MaxSize)), 0o600))
	must(os.WriteFile(filepath.Join(dir, "utf16"), []byte("\xff\xfea\x00"), 0o600))
	for name, want := range map[string]string{
		"missing":        "no such file or directory",
		"folder":         "is a folder, not a file",
		"link-to-folder": "is a folder, not a file",
		"dangling":       "is a link that leads to nothing",
		"loop":           "too many levels of symbolic links",
		"/dev/zero":      "is a device, not a file",
		"big":            "the file has 1048577 bytes, at most 1048576 are read",
		"utf16":          "utf16:1:1: byte 0xff is not UTF-8",
	} {
		path := name
		if !filepath.IsAbs(name) {
			path = filepath.Join(dir, name)
		}
		_, err := Load(path)
		if err == nil || !strings.Contains(err.Error(), want) || fault.KindOf(err) != fault.Config {
			t.Errorf("Load(%s) = %v (kind %v), want %q", name, err, fault.KindOf(err), want)
		}
	}
	if _, err := Load(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file does not wrap fs.ErrNotExist: %v", err)
	}
}

func TestReadAndWriteErrorsName(t *testing.T) {
	err := readError("/x/c", &fs.PathError{Op: "open", Path: "/x/c", Err: syscall.EACCES})
	if got := err.Error() + "|" + fault.HintOf(err); got != `config "/x/c" cannot be read: permission denied|chmod u+rw /x/c` {
		t.Error(got)
	}
	err = writeError("/x y/c", &fs.PathError{Op: "write", Path: "/x/t", Err: syscall.ENOSPC})
	if got := err.Error() + "|" + fault.HintOf(err); got != `config "/x y/c" cannot be written: no space left on device|free some space: df -h '/x y'` || fault.KindOf(err) != fault.Machine {
		t.Error(got)
	}
}

func TestWriteDefault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if written, err := WriteDefault(path); err != nil || !written {
		t.Fatalf("first: %v, %v", written, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if _, err := Load(path); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("memory: 512\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if written, err := WriteDefault(path); err != nil || written {
		t.Errorf("second: %v, %v", written, err)
	}
	if s, err := Load(path); err != nil || s.Memory != 512 {
		t.Errorf("the user's config was lost: %v, %v", s.Memory, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".config-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWriteKeepsALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles.yaml"), filepath.Join(dir, "config.yaml")
	if err := errors.Join(os.WriteFile(real, []byte("cpus: 3\n"), 0o600), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, []byte("cpus: 4\n")); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(real); string(text) != "cpus: 4\n" {
		t.Errorf("target = %q", text)
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
}
