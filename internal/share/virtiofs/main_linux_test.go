package virtiofs

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The test binary plays a virtiofsd that an attacker took over when it is
// started with virtiofsd's arguments.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "--fd=") {
		os.Exit(play())
	}
	os.Exit(m.Run())
}

const panicReason = "called `Result::unwrap()` on an `Err` value: InvalidCString"

// report is what the taken over server found, and how its attacks ended.
type report struct {
	Root, Shares []string
	Env          []string
	Results      map[string]string // attack to the error's name, "" for success
}

// play answers the first connection with a report.
func play() int {
	fd, _ := strconv.Atoi(strings.TrimPrefix(os.Args[1], "--fd="))
	l, err := net.FileListener(os.NewFile(uintptr(fd), "listener"))
	if err != nil {
		return 1
	}
	c, err := l.Accept()
	if err != nil {
		return 1
	}
	if slices.Contains(names(tree), "panic") { // one thread dies, the process stays
		fmt.Fprintf(os.Stderr, "\nthread 'vring_worker' panicked at src/vhost_user.rs:277:18:\n%s\nnote: run with\n", panicReason)
		select {} // till it is killed
	}
	r := report{Root: names("/"), Shares: names(tree), Env: os.Environ(), Results: map[string]string{}}
	for what, err := range attacks() {
		name := ""
		if errno := syscall.Errno(0); errors.As(err, &errno) {
			name = unix.ErrnoName(errno)
		} else if err != nil {
			name = err.Error()
		}
		r.Results[what] = name
	}
	_ = json.NewEncoder(c).Encode(r)
	c.Close()
	return 0
}

func attacks() map[string]error {
	in := func(name string) string { return filepath.Join(tree, name) }
	file := in("project/file")
	return map[string]error{
		"write the project":            os.WriteFile(file, []byte("x"), 0o644),
		"chmod 755":                    unix.Fchmodat(unix.AT_FDCWD, file, 0o755, 0),
		"chmod setuid":                 unix.Fchmodat(unix.AT_FDCWD, file, 0o4755, 0),
		"chmod setgid":                 unix.Chmod(file, 0o2755),
		"create setuid":                openErr(unix.Open(in("project/suid"), unix.O_CREAT|unix.O_WRONLY, 0o4755)),
		"open with stray mode":         openErr(unix.Open(file, unix.O_RDONLY, 0o4755)),
		"mknod setuid":                 unix.Mknod(in("project/node"), unix.S_IFREG|0o4755, 0),
		"make a device":                unix.Mknod(in("project/null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))),
		"mkdir setgid":                 unix.Mkdir(in("project/dir"), 0o2755),
		"write a read-only folder":     os.WriteFile(in("m0/planted"), nil, 0o644),
		"remount it":                   unix.Mount("", in("m0"), "", unix.MS_REMOUNT|unix.MS_BIND, ""),
		"write in the tree":            os.WriteFile(in("planted"), nil, 0o644),
		"write in its own program":     os.WriteFile(bundleProgram, nil, 0o755),
		"give the file to root":        unix.Chown(file, 0, 0),
		"open a network socket to all": dial("1.1.1.1:53"),
		"make a user namespace":        userNamespace(),
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

func dial(address string) error {
	c, err := net.Dial("udp", address)
	if err == nil {
		c.Close()
	}
	return err
}

func openErr(fd int, err error) error {
	if err == nil {
		err = unix.Close(fd)
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
