//go:build linux

package peer

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Virtiofsd starts a virtiofsd without a sandbox for dir and returns QEMU's
// arguments for it. It has the flags that aibox gives it but for the cache.
func (p Paths) Virtiofsd(dir, tag, cache string) (args []string, stop func(), err error) {
	socket := filepath.Join(filepath.Dir(dir), tag+".sock")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	defer listener.Close()
	listener.SetUnlinkOnClose(false)
	file, err := listener.File()
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	const everyone = "squash-guest:0:%d:4294967295"
	program := p.virtiofsd()
	cmd := exec.Command(program[0], append(program[1:], "--fd=3", "--shared-dir="+dir, "--sandbox=none", "--seccomp=kill",
		"--announce-submounts", "--inode-file-handles=never", "--cache="+cache, "--allow-mmap",
		"--translate-uid="+fmt.Sprintf(everyone, os.Getuid()), "--translate-gid="+fmt.Sprintf(everyone, os.Getgid()), "--log-level=error")...)
	cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{file}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return []string{"-chardev", "socket,id=" + tag + ",path=" + socket, "-device", "vhost-user-fs-device,chardev=" + tag + ",tag=" + tag}, ender(cmd), nil
}

// virtiofsd is the program's command, from the folder where setup put it or
// from the system's package.
func (p Paths) virtiofsd() []string {
	if program := filepath.Join(p.VirtiofsdDir, "usr/libexec/virtiofsd"); exists(program) {
		return []string{filepath.Join(p.VirtiofsdDir, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path",
			filepath.Join(p.VirtiofsdDir, "usr/lib/x86_64-linux-gnu"), program}
	}
	for _, program := range []string{"/usr/libexec/virtiofsd", "/usr/lib/virtiofsd", "/usr/lib/qemu/virtiofsd"} {
		if exists(program) {
			return []string{program}
		}
	}
	return []string{"virtiofsd"}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ender returns what ends a program that was started.
func ender(cmd *exec.Cmd) func() {
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// tool returns a command for a program that bench-setup.sh unpacked, with its
// libraries; it is not started.
func (p Paths) tool(name string, args ...string) (*exec.Cmd, error) {
	root := filepath.Join(p.Bench, "tools")
	for _, dir := range []string{"usr/sbin", "usr/bin"} {
		program := filepath.Join(root, dir, name)
		if !exists(program) {
			continue
		}
		cmd := exec.Command(program, args...)
		libraries := []string{filepath.Join(root, "usr/lib/x86_64-linux-gnu"), filepath.Join(root, "lib/x86_64-linux-gnu")}
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+strings.Join(libraries, ":"))
		return cmd, nil
	}
	return nil, Absent("scripts/bench-setup.sh could not fetch " + name)
}

// Absent is the error of a peer that cannot be had here.
type Absent string

func (a Absent) Error() string { return string(a) }
