package ownnet

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Command is this program once more, with the arguments, in a network of its
// own. It is killed when ctx ends.
func Command(ctx context.Context, p Place, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), placeVariable+"="+string(text))
	uid, gid := os.Getuid(), os.Getgid()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN},
	}
	return cmd, nil
}

// Enter makes the place if Command started this process, and then starts it
// anew without the capabilities that took. Otherwise it does nothing. It comes
// before anything else that the program does.
func Enter() error {
	text := os.Getenv(placeVariable)
	if text == "" || Inside() {
		return nil
	}
	var p Place
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	if err := p.make(); err != nil {
		return fmt.Errorf("make a network of its own: %w", err)
	}
	runtime.LockOSThread() // exec keeps what this thread may do
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, append(os.Environ(), doneVariable+"=1"))
}

func (p Place) make() error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("start loopback: %w", err)
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0); err != nil {
		return err
	}
	if err := replace("/etc/hosts", "127.0.0.1 localhost "+strings.Join(p.Names, " ")+"\n"); err != nil {
		return err
	}
	database, err := p.userDatabase()
	if err != nil {
		return err
	}
	return replace("/etc/passwd", database)
}

// replace puts text over a file, for this mount namespace.
func replace(path, text string) error {
	f, err := os.CreateTemp("", filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := unix.Mount(f.Name(), path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount over %s: %w", path, err)
	}
	return nil
}

func (p Place) userDatabase() (string, error) {
	me, err := user.Current()
	if err != nil {
		return "", err
	}
	old, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, name := range []string{me.Username, p.Alias} {
		if name != "" {
			fmt.Fprintf(&text, "%s:x:%s:%s::%s:/bin/sh\n", name, me.Uid, me.Gid, p.Home)
		}
	}
	for line := range strings.Lines(string(old)) {
		if name, _, _ := strings.Cut(line, ":"); name != me.Username && name != p.Alias {
			text.WriteString(line)
		}
	}
	return text.String(), nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
