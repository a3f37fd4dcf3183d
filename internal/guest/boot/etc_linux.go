package boot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"aibox/internal/guest/names"
	"aibox/internal/guest/session"
)

func (m *machine) setHostname() error {
	name := m.boot.Hostname
	if !validHostname(name) {
		return fmt.Errorf("host name %q is not valid", name)
	}
	if err := unix.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	return writeFiles(map[string]string{
		"/etc/hostname": name + "\n",
		"/etc/hosts":    hostsFile(name),
		// No name server: names are the proxy's business.
		"/etc/resolv.conf":        "",
		"/etc/profile.d/aibox.sh": profile(session.Path(m.boot.Path)),
	})
}

func (m *machine) setTimeZone() error {
	zone := m.boot.TimeZone
	if zone == "" {
		zone = "Etc/UTC"
	}
	if !validZone(zone) {
		return fmt.Errorf("time zone %q is not valid", zone)
	}
	if _, err := os.Stat(zoneInfo + zone); err != nil {
		return fmt.Errorf("time zone %s: %w", zone, err)
	}
	if err := os.Remove("/etc/localtime"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(zoneInfo+zone, "/etc/localtime"); err != nil {
		return err
	}
	return writeFiles(map[string]string{"/etc/timezone": zone + "\n"})
}

func (m *machine) addUser() error {
	var image accounts
	files := image.files()
	for path, text := range files {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		*text = string(b)
	}
	with, err := image.withUser(m.boot.UID, m.boot.GID)
	if err != nil {
		return err
	}
	out := map[string]string{}
	for path, text := range with.files() {
		out[path] = *text
	}
	if err := writeFiles(out); err != nil {
		return err
	}
	return m.makeRuntimeDir()
}

// makeRuntimeDir mounts XDG_RUNTIME_DIR, where programs keep their sockets.
func (m *machine) makeRuntimeDir() error {
	dir := names.RuntimeDir(m.boot.UID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	options := runtimeOptions(m.memory, m.boot.UID, m.boot.GID)
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount %s: %w", dir, err)
	}
	return nil
}

func (a *accounts) files() map[string]*string {
	return map[string]*string{
		"/etc/passwd": &a.passwd, "/etc/group": &a.group, "/etc/shadow": &a.shadow,
		"/etc/gshadow": &a.gshadow, "/etc/subuid": &a.subuid, "/etc/subgid": &a.subgid,
	}
}

// writeFiles replaces files; what was a link in the image becomes a file.
// Shadow files keep their secrecy, all others are for everyone.
func writeFiles(files map[string]string) error {
	for path, text := range files {
		mode := os.FileMode(0o644)
		if base := filepath.Base(path); base == "shadow" || base == "gshadow" {
			mode = 0o600
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			return err
		}
	}
	return nil
}
