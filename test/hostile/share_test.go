//go:build hostile

package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const byVirtiofsd = "virtiofsd, bind mounts"

// guard is what keeps the VM from what it may not do with files.
func (x *scene) guard() string {
	if x.on != "" {
		return "9p server, bind mounts"
	}
	return byVirtiofsd
}

// both runs a command as root with $D as a folder where it must work, and then
// with $D as the folder under attack.
func (x *scene) both(t *testing.T, name, guard, control, folder, command string, check func(t *testing.T)) {
	t.Helper()
	attack(t, x.on+name, guard, true, func(t *testing.T) {
		x.vm.must(t, asRoot("rm -rf "+control+" && mkdir -p "+control+" && echo original > "+control+"/tool && D="+control+"; "+command))
		x.vm.refused(t, "D="+folder+"; "+command)
		if check != nil {
			check(t)
		}
	})
}

func (x *scene) toolsUntouched(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(x.tools)
	if err != nil || len(entries) != 1 {
		t.Errorf("the read-only folder holds %v, %v", entries, err)
	}
	fi, err := os.Stat(filepath.Join(x.tools, "tool"))
	if err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("its file: %v, %v", fi, err)
	}
	if b, err := os.ReadFile(filepath.Join(x.tools, "tool")); string(b) != "original" {
		t.Errorf("its file holds %q, %v", b, err)
	}
}

// unlessNineP is a command that 9p offers nowhere, so that it has no control there.
func (x *scene) unlessNineP(command string) string {
	if x.on == "" {
		return command
	}
	return "test $D = /project/rw || " + command
}

func (x *scene) readOnlyShare(t *testing.T) {
	for name, command := range sorted(map[string]string{
		"write":                   "echo x > $D/tool",
		"append":                  "echo x >> $D/tool",
		"cut off":                 "truncate -s 0 $D/tool",
		"make a file":             "touch $D/new",
		"make a folder":           "mkdir $D/new",
		"make a link":             "ln -s tool $D/new",
		"make a hard link":        "ln $D/tool $D/new",
		"make a FIFO":             x.unlessNineP("mkfifo $D/new"),
		"remove a file":           "rm $D/tool",
		"rename a file":           "mv $D/tool $D/other",
		"change the mode":         "chmod 777 $D/tool",
		"change the times":        "touch -d 2001-01-01 $D/tool",
		"reserve space":           x.unlessNineP("fallocate -l 1M $D/tool"),
		"write by shared memory":  "/project/attacker vm mmap $D/tool",
		"write by a number":       "exec 3< $D/tool && echo x > /proc/self/fd/3",
		"write after a remount":   "{ test $D = /project/rw || mount -o remount,rw /run/aibox/shares; } && echo x > $D/tool",
		"write after a rebind":    "{ test $D = /project/rw || mount -o remount,rw,bind $D; } && echo x > $D/tool",
		"write by an own overlay": "test $D = /project/rw || { mkdir -p /tmp/o && mount -t virtiofs -o rw aibox /tmp/o && { echo x > /tmp/o/tool || echo x > /tmp/o/m0/tool; }; }",
	}) {
		x.both(t, "read-only share: "+name, x.guard(), "/project/rw", "/run/aibox/shares/m0", command, x.toolsUntouched)
	}
}

func (x *scene) acrossShares(t *testing.T) {
	for name, command := range sorted(map[string]string{
		"hard-link a read-only file into the project and write it": "ln $D/tool /run/aibox/shares/project/linked && echo x > /run/aibox/shares/project/linked",
		"rename a file over into the project":                      "python3 -c \"import os; os.rename('$D/tool', '/run/aibox/shares/project/moved')\"",
	}) {
		x.both(t, "shares: "+name, x.guard(), "/run/aibox/shares/project/rw", "/run/aibox/shares/m0", command, x.toolsUntouched)
	}
	for name, command := range sorted(map[string]string{
		"make a file beside the shares":   "touch $D/new",
		"make a folder beside the shares": "mkdir $D/new",
		"rename a share":                  "mv $D/project $D/other",
		"remove a share":                  "rmdir $D/m0 || { umount $D/m0; rmdir $D/m0; }",
	}) {
		attack(t, x.on+"shares: "+name, x.guard(), false, func(t *testing.T) {
			x.vm.refused(t, "D=/run/aibox/shares; "+command)
			x.vm.must(t, "ls /project/attacker")
			x.toolsUntouched(t)
		})
	}
	for name, command := range sorted(map[string]string{
		"mount another tag":                        "mkdir -p /tmp/t && mount -t virtiofs root /tmp/t",
		"mount the folder above by tag":            "mkdir -p /tmp/t && mount -t virtiofs aibox/.. /tmp/t",
		"follow a link to a file of the host":      fmt.Sprintf("ln -sfn %s /project/link; cat /project/link", x.secret),
		"follow a link by the share's root":        fmt.Sprintf("ln -sfn ../../../../../../../../%s /run/aibox/shares/project/link; cat /run/aibox/shares/project/link", x.secret),
		"climb above the share":                    fmt.Sprintf("cat /run/aibox/shares/../../../../..%s || cat /run/aibox/shares/project/../../../../../..%s", x.secret, x.secret),
		"open nodes by forged handles":             "/project/attacker vm handles /project '" + marker + "'",
		"open nodes by forged handles of the root": "/project/attacker vm handles /run/aibox/shares '" + marker + "'",
	}) {
		attack(t, x.on+"shares: "+name, x.guard(), false, func(t *testing.T) { x.vm.refused(t, command) })
	}
}

// stat returns the host's view of a file of the project.
func (x *scene) stat(t *testing.T, name string) (os.FileInfo, *syscall.Stat_t) {
	t.Helper()
	fi, err := os.Lstat(filepath.Join(x.project, name))
	if err != nil {
		return nil, nil
	}
	return fi, fi.Sys().(*syscall.Stat_t)
}

// noBits fails the test if a file below the project is setuid, setgid, a
// device, or another user's.
func (x *scene) noBits(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(x.project, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil // a file that another process removed
		}
		fi, err := d.Info()
		if err != nil {
			return nil
		}
		if st := fi.Sys().(*syscall.Stat_t); int(st.Uid) != os.Getuid() || int(st.Gid) != os.Getgid() {
			t.Errorf("%s belongs to %d:%d", path, st.Uid, st.Gid)
		}
		if fi.Mode()&(os.ModeSetuid|os.ModeSetgid|os.ModeDevice) != 0 {
			t.Errorf("%s has mode %v", path, fi.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func (x *scene) rightsOnShares(t *testing.T) {
	for name, command := range sorted(map[string]string{
		"make a device node of memory":                     "mknod $D/n c 1 3",
		"make a device node of a disk":                     "mknod $D/n b 8 0",
		"make a setuid program":                            "cp /bin/true $D/su && chmod 4755 $D/su && test -u $D/su",
		"make a setgid program":                            "cp /bin/true $D/sg && chmod 2755 $D/sg && test -g $D/sg",
		"install a setuid program":                         "install -m 6755 /bin/true $D/su && test -u $D/su",
		"make a setuid program by mknod":                   "python3 -c \"import os,stat; os.mknod('$D/mk', stat.S_IFREG|0o4755)\" && test -u $D/mk",
		"make a setuid program by open":                    "python3 -c \"import os; os.open('$D/op', os.O_CREAT|os.O_WRONLY, 0o4755)\" && test -u $D/op",
		"make a setuid program from a file without a name": "/project/attacker vm tmpfile $D",
		"give a program capabilities":                      "touch $D/cap && python3 -c \"import os; os.setxattr('$D/cap', 'security.capability', bytes.fromhex('0100000200000020000000000000000000000000'))\"",
		"set a trusted attribute":                          "touch $D/tr && python3 -c \"import os; os.setxattr('$D/tr', 'trusted.overlay.opaque', b'y')\"",
		"give a file to root":                              "touch $D/mine && chown 0:0 $D/mine && test \"$(stat -c %u $D/mine)\" = 0 && test $D != /project",
		"give a file to another user":                      "touch $D/mine && chown 12345:54321 $D/mine && test \"$(stat -c %u $D/mine)\" = 12345",
		"make a file as another user":                      "/project/attacker vm as $D/as 12345 && test \"$(stat -c %u $D/as)\" = 12345",
		"make a name of 256 bytes":                         "touch $D/$(printf 'a%.0s' {1..255}) && { test $D = /tmp/rights || touch $D/$(printf 'a%.0s' {1..256}); }",
	}) {
		attack(t, x.on+"rights: "+name, x.guard(), true, func(t *testing.T) {
			x.vm.must(t, asRoot("rm -rf /tmp/rights && mkdir -m 777 /tmp/rights && D=/tmp/rights; "+command))
			x.vm.refused(t, "D=/project; "+command)
			x.noBits(t)
		})
	}
	attack(t, x.on+"rights: write into the user's own setuid program", "the host's kernel", true, func(t *testing.T) {
		path := filepath.Join(x.project, "own")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Chmod(path, 0o4755); err != nil {
			t.Fatal(err)
		}
		if fi, _ := x.stat(t, "own"); fi.Mode()&os.ModeSetuid == 0 {
			t.Fatal("control: the file is not setuid before")
		}
		x.vm.must(t, asRoot("echo owned >> /project/own"))
		x.noBits(t)
	})
}

func (x *scene) outOfShares(t *testing.T) {
	attack(t, x.on+"shares: race a folder against a link to the outside", x.guard(), false, func(t *testing.T) {
		x.vm.must(t, asRoot("/project/attacker vm race /project "+x.outside))
		entries, err := os.ReadDir(x.outside)
		if err != nil || len(entries) != 1 || entries[0].Name() != "secret" {
			t.Errorf("the folder outside holds %v, %v", entries, err)
		}
	})
	attack(t, x.on+"shares: a path of 300 folders, and one of 2100", x.guard(), false, func(t *testing.T) {
		x.vm.must(t, asRoot(`cd /project && python3 -c "
import os
for i in range(300): os.mkdir('d'); os.chdir('d')"`))
		x.vm.refused(t, "cat /project/"+strings.Repeat("d/", 2100)+"x")
		if err := os.RemoveAll(filepath.Join(x.project, "d")); err != nil {
			t.Error(err)
		}
	})
	attack(t, x.on+"shares: 3000 open files", x.guard(), false, func(t *testing.T) {
		out, _ := x.vm.do(t, asRoot(`ulimit -n 65536; python3 -c "
import os
held = []
try:
    for i in range(3000): held.append(os.open('/project/f%d' % (i % 50), os.O_CREAT | os.O_RDWR))
except OSError as e: print(e)
print(len(held), 'open')"; rm -f /project/f[0-9]*`))
		t.Log(out)
		x.vm.must(t, "echo works > /project/after && cat /project/after")
	})
}
