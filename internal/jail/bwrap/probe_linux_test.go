package bwrap

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// report is what the probe, a stand-in for a program that an attacker took
// over, found out and managed to do in its sandbox.
type report struct {
	Env       []string
	Root      []string // names in /
	Dev       []string // names in /dev
	Files     []int    // numbers of open files
	Processes int      // in /proc
	Caps      bool     // has any capability
	Managed   []string // of what it must not
}

// probe runs the attacks and prints a report.
// Outside of a sandbox, where it shows that its attacks work at all, it only reads and connects.
func probe(secret, port, abstract string, sandboxed bool) int {
	r := report{Env: os.Environ(), Root: names("/"), Dev: names("/dev")}
	for n := range 64 {
		if _, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0); err == nil && !isOwn(n) {
			r.Files = append(r.Files, n)
		}
	}
	for _, n := range names("/proc") {
		if _, err := strconv.Atoi(n); err == nil {
			r.Processes++
		}
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	_ = unix.Capget(&hdr, &caps[0])
	r.Caps = caps[0].Permitted|caps[1].Permitted|caps[0].Effective|caps[1].Effective != 0

	try := func(what string, err error) {
		if err == nil {
			r.Managed = append(r.Managed, what)
		}
	}
	for _, prefix := range []string{"", "/oldroot", "/newroot", "/proc/1/root", "/proc/1/cwd/../../..", "/proc/self/root/.."} {
		_, err := os.ReadFile(prefix + secret)
		try("read the secret by "+prefix, err)
	}
	_, err := net.Dial("tcp", "127.0.0.1:"+port)
	try("connect to the host's loopback", err)
	_, err = net.Dial("unix", "@"+abstract)
	try("connect to an abstract socket", err)
	if _, err := os.Stat("/program"); err == nil && sandboxed {
		harm(secret, try)
	}
	_ = json.NewEncoder(os.Stdout).Encode(r)
	return 0
}

// harm tries what would change the machine if it worked.
func harm(secret string, try func(string, error)) {
	for _, d := range []string{"/", "/dev", "/tmp", "/usr", "/lib", "/proc", "/etc", filepath.Dir(secret)} {
		try("write in "+d, os.WriteFile(filepath.Join(d, "planted"), nil, 0o600))
	}
	own, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err == nil {
		own.Close()
	}
	try("open its own memory", err)
	try("mount", unix.Mount("none", "/", "tmpfs", 0, ""))
	try("remount", unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	try("make a user namespace", userNamespace())
	try("make a device", unix.Mknod("/planted", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))))
	if os.Getuid() != 0 {
		try("become root", syscall.Setuid(0))
	}
}

// userNamespace starts a process in one; Go's own threads keep it from entering one itself.
func userNamespace() error {
	p, err := os.StartProcess("/proc/self/exe", []string{"x", "-test.run=^$"},
		&os.ProcAttr{Sys: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}})
	if err == nil {
		_, err = p.Wait()
	}
	return err
}

func names(dir string) (n []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		n = append(n, e.Name())
	}
	return n
}

// isOwn tells files that Go's runtime opened itself.
func isOwn(fd int) bool {
	to, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return to == "anon_inode:[eventpoll]" || to == "anon_inode:[eventfd]"
}
