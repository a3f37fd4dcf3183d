//go:build vm

package vm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// hostEdits edits on the host and looks in the VM, without any pause.
func (c conformance) hostEdits() {
	c.vm.must("mkdir /project/edits && cd /project/edits && mkdir sub && echo old > file && echo old > gone && echo old > turns && ls -l . sub")
	dir := filepath.Join(c.project, "edits")
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) error { return os.WriteFile(at(name), []byte(text), 0o644) }
	long := strings.Repeat("a line of the host\n", 300000)
	for _, edit := range []struct {
		what string
		do   func() error
		look string // in the VM
		want string
	}{
		{"grow", func() error { return write("file", long) }, "wc -c < file; md5sum < file | head -c 8", fmt.Sprintf("%d\n%s", len(long), c.md5(long))},
		{"shrink", func() error { return write("file", "short") }, "cat file", "short"},
		{"append", func() error { return appendTo(at("file"), " and more") }, "cat file", "short and more"},
		{"same size", func() error { return write("file", "SHORT AND MORE") }, "cat file", "SHORT AND MORE"},
		{"cut off", func() error { return os.Truncate(at("file"), 5) }, "stat -c %s file; cat file", "5\nSHORT"},
		{"replace", func() error { return errors.Join(write("new", "replaced"), os.Rename(at("new"), at("file"))) }, "cat file; ls", "replacedfile\ngone\nsub\nturns\n"},
		{"remove", func() error { return os.Remove(at("gone")) }, "test -e gone || ls", "file\nsub\nturns\n"},
		{"a file in a listed folder", func() error { return write("sub/new", "in sub") }, "ls sub; cat sub/new", "new\nin sub"},
		{"a folder in a listed folder", func() error { return os.MkdirAll(at("sub/a/b"), 0o755) }, "ls sub sub/a", "sub:\na\nnew\n\nsub/a:\nb\n"},
		{"a missing file that was asked for", func() error { _, _ = c.vm.do("cat /project/edits/later"); return write("later", "here") }, "cat later", "here"},
		{"mode", func() error { return os.Chmod(at("file"), 0o600) }, "stat -c %a file", "600\n"},
		{"a file becomes a folder", func() error {
			return errors.Join(os.Remove(at("turns")), os.Mkdir(at("turns"), 0o755), write("turns/x", "x"))
		}, "cat turns/x", "x"},
		{"a folder becomes a link", func() error { return errors.Join(os.RemoveAll(at("turns")), os.Symlink("file", at("turns"))) }, "readlink turns; cat turns", "file\nreplaced"},
		{"a moved folder", func() error { return os.Rename(at("sub"), at("moved")) }, "cat moved/new; test -e sub || echo gone", "in subgone\n"},
	} {
		if err := edit.do(); err != nil {
			c.Fatalf("%s: %v", edit.what, err)
		}
		if got, _ := c.vm.do("cd /project/edits && " + edit.look); got != edit.want {
			c.Errorf("%s: the VM has %q, want %q", edit.what, got, edit.want)
		}
	}
	c.vmEdits(dir)
}

func (c conformance) md5(text string) string {
	return strings.TrimSpace(c.vm.must(fmt.Sprintf("yes 'a line of the host' | head -n %d | md5sum | head -c 8", strings.Count(text, "\n"))))
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	return err
}

// vmEdits edits one file in the VM, step after step, and looks on the host.
func (c conformance) vmEdits(dir string) {
	for _, edit := range []struct {
		command string
		size    int64
	}{
		{"seq 100000 > vm", 588895},
		{"echo short > vm", 6},
		{"echo more >> vm", 11},
		{"truncate -s 3 vm", 3},
	} {
		if got := c.vm.must("cd /project/edits && " + edit.command + " && stat -c %s vm"); got != fmt.Sprintf("%d\n", edit.size) {
			c.Errorf("%s: the VM has %q bytes, want %d", edit.command, got, edit.size)
		}
		if fi, err := os.Stat(filepath.Join(dir, "vm")); err != nil || fi.Size() != edit.size {
			c.Errorf("%s: the host has %v, %v, want %d bytes", edit.command, fi, err, edit.size)
		}
	}
}

// saveByRename saves as editors do: another file, fsync, rename over.
func (c conformance) saveByRename() {
	path := filepath.Join(c.project, "saved")
	for i := range 10 {
		want := fmt.Sprintf("save %d of the VM\n", i)
		if err := os.WriteFile(path, []byte("before"), 0o640); err != nil {
			c.Fatal(err)
		}
		old, err := os.Open(path)
		if err != nil {
			c.Fatal(err)
		}
		defer old.Close()
		before, _ := old.Stat()
		c.vm.must(fmt.Sprintf("cd /project && printf %%s %s > .saved.swp && sync .saved.swp && chmod --reference=saved .saved.swp && mv .saved.swp saved && cmp saved <(printf %%s %s)", quote(want), quote(want)))
		after, err := os.Stat(path)
		if err != nil || os.SameFile(before, after) || after.Mode().Perm() != 0o640 {
			c.Errorf("after the save the host has %v, %v", after, err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			c.Errorf("the host reads %q, %v, want %q", text, err, want)
		}
		still := make([]byte, 9)
		if n, _ := old.ReadAt(still, 0); string(still[:n]) != "before" {
			c.Errorf("the host's open file reads %q", still[:n])
		}
	}
}

// openFiles has the VM hold files open while the host edits.
func (c conformance) openFiles() {
	path := filepath.Join(c.project, "held")
	hold := func(text string) {
		c.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			c.Fatal(err)
		}
		// not in the sub-shell of do: the file stays open
		if _, err := fmt.Fprintln(c.vm.stdin, "exec 3<>/project/held"); err != nil {
			c.Fatal(err)
		}
		c.vm.must("true") // it is open
	}
	see := func(what, want string) {
		c.Helper()
		if got, code := c.vm.do(fscase + " pread 3"); code != 0 || got != want {
			c.Errorf("%s: the VM's open file reads %q, want %q", what, got, want)
		}
	}
	hold("first")
	see("before", "first")
	if err := appendTo(path, " second"); err != nil {
		c.Fatal(err)
	}
	see("grown by the host", "first second")
	if err := os.WriteFile(path, []byte("1"), 0o644); err != nil {
		c.Fatal(err)
	}
	if c.kind == "9p" { // the kernel believes in the old size until something asks for the new one
		if out, code := c.vm.do(fscase + " pread 3"); code == 0 || !strings.Contains(out, "input/output error") {
			c.Errorf("cut off by the host: the VM's open file reads %q, %d, want an I/O error", out, code)
		}
		c.vm.must("test $(stat -c %s /project/held) = 1")
	}
	see("cut off by the host", "1")
	if err := errors.Join(os.WriteFile(path+".new", []byte("new"), 0o644), os.Rename(path+".new", path)); err != nil {
		c.Fatal(err)
	}
	see("replaced by the host", "1")
	byName := func(want string) {
		c.Helper()
		if got := c.vm.must("cat /project/held"); got != want {
			c.Errorf("by its name the VM reads %q, want %q", got, want)
		}
	}
	if c.kind == "9p" { // the name stays the old file's while that is open
		byName("1")
	} else {
		byName("new")
	}
	release := func() {
		c.Helper()
		if _, err := fmt.Fprintln(c.vm.stdin, "exec 3>&-"); err != nil {
			c.Fatal(err)
		}
	}
	release()
	byName("new")
	hold("to be removed")
	if err := os.Remove(path); err != nil {
		c.Fatal(err)
	}
	see("removed by the host", "to be removed")
	release()
	if out, code := c.vm.do("cat /project/held"); code == 0 {
		c.Errorf("a removed file that nobody has open is %q", out)
	}
}

// rights tries as the VM's root what a share must not do for it.
func (c conformance) rights() {
	c.vm.must("mkdir /project/rights && touch /project/rights/mine")
	for _, command := range []string{
		"chown 0:0 mine", "chown 12345 mine", "touch roots", "mkdir rootsdir", "ln -s x rootslink", "mknod c c 1 3", "mknod b b 8 0",
		"install -m 4755 /bin/true setuid", "install -m 2755 /bin/true setgid", "setfattr -n security.capability -v 0x0100000200000020000000000000000000000000 mine",
	} {
		c.vm.do(asRoot("cd /project/rights && " + command))
	}
	dir, err := os.ReadDir(filepath.Join(c.project, "rights"))
	if err != nil || len(dir) < 4 {
		c.Fatalf("the host has %v, %v", dir, err)
	}
	for _, e := range dir {
		fi, err := e.Info()
		if err != nil {
			c.Fatal(err)
		}
		st := fi.Sys().(*syscall.Stat_t)
		if int(st.Uid) != os.Getuid() || int(st.Gid) != os.Getgid() || fi.Mode()&(os.ModeSetuid|os.ModeSetgid|os.ModeDevice) != 0 {
			c.Errorf("%s: %v of %d:%d", e.Name(), fi.Mode(), st.Uid, st.Gid)
		}
		caps := make([]byte, 100)
		if n, _ := syscall.Getxattr(filepath.Join(c.project, "rights", e.Name()), "security.capability", caps); n > 0 {
			c.Errorf("%s has capabilities %x", e.Name(), bytes.Clone(caps[:n]))
		}
	}
}
