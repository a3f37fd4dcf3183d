package boot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"aibox/internal/guest/link"
	"aibox/internal/guest/names"
	"aibox/internal/guest/ninep"
	"aibox/internal/guest/place"
	"aibox/internal/wire"
)

const userMount = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

// attachState waits for the state disk.
func (m *machine) attachState() error {
	if !m.boot.StateDisk {
		return nil
	}
	if m.attached == nil {
		return errors.New("there is none")
	}
	err := <-m.attached
	m.state = err == nil
	return err
}

func (m *machine) mountShares() error {
	if len(m.boot.Binds) == 0 {
		return nil
	}
	if err := makePrivate(names.Shares); err != nil {
		return err
	}
	mount := mountDevice
	if m.boot.NineP {
		mount = mountPort
	}
	if err := mount(); err != nil {
		return fmt.Errorf("mount shares: %w", err)
	}
	m.mounted = append(m.mounted, names.Shares)
	return nil
}

const shareFlags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOATIME

func mountDevice() error {
	return unix.Mount(wire.ShareTag, names.Shares, "virtiofs", shareFlags, "")
}

func mountPort() error {
	path, err := link.FindPort(wire.SharePortName, linkTimeout)
	if err != nil {
		return err
	}
	return ninep.Mount(path, names.Shares, shareFlags)
}

// makePrivate makes a folder that only root can reach.
func makePrivate(dir string) error {
	if err := os.MkdirAll(names.Private, 0o700); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

// bindFolders puts the shares and the state disk's folders where they belong.
// The home comes first, then what of the state disk is in it, since other shares
// may go below both. Project and home have a place without a share too.
func (m *machine) bindFolders() error {
	for _, f := range []struct{ name, target string }{
		{"home", wire.GuestHome}, {"project", wire.GuestProject},
	} {
		shared := slices.IndexFunc(m.boot.Binds, func(b wire.Bind) bool { return b.Target == f.target })
		bind := func() error { return m.bindOwn(f.name, f.target) }
		if shared >= 0 {
			bind = func() error { return m.bindShare(m.boot.Binds[shared]) }
		}
		if err := bind(); err != nil {
			return err
		}
	}
	if err := m.bindState(); err != nil {
		return err
	}
	for _, b := range m.boot.Binds {
		if b.Target == wire.GuestHome || b.Target == wire.GuestProject {
			continue
		}
		if err := m.bindShare(b); err != nil {
			return err
		}
	}
	return nil
}

// bindShare puts a share where the host wants it.
func (m *machine) bindShare(b wire.Bind) error {
	if !validShare(b.Share) {
		return fmt.Errorf("share %q is not valid", b.Share)
	}
	var attributes uint64 = userMount
	if b.ReadOnly {
		attributes |= unix.MOUNT_ATTR_RDONLY
	}
	err := m.bind(filepath.Join(names.Shares, b.Share), b.Target, attributes, !b.Optional)
	if err != nil && b.Optional {
		m.note("folder " + b.Target + " is left out: " + oneLine(err.Error()))
		return nil
	}
	return err
}

// bindState puts the state disk's folders, where there is one.
func (m *machine) bindState() error {
	if !m.state {
		return nil
	}
	if err := m.fillLocal(); err != nil {
		return err
	}
	if err := m.bindOwn("local", "/usr/local"); err != nil {
		return err
	}
	return m.bindCache()
}

// bindOwn puts a folder of the user at target: one of the state disk, or RAM
// where there is no disk.
func (m *machine) bindOwn(name, target string) error {
	if m.state {
		source, err := m.stateFolder(name)
		if err != nil {
			return err
		}
		return m.bind(source, target, userMount, true)
	}
	place, err := m.place(target, true)
	if err != nil {
		return err
	}
	defer place.Close()
	options := fmt.Sprintf("mode=0755,uid=%d,gid=%d,size=25%%", m.boot.UID, m.boot.GID)
	if err := unix.Mount("tmpfs", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount RAM at %s: %w", target, err)
	}
	m.mounted = append(m.mounted, target)
	return nil
}

// stateFolder returns a folder of the state disk that is the user's.
func (m *machine) stateFolder(name string) (string, error) {
	dir := filepath.Join(names.State, name)
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return dir, nil
	}
	if err != nil {
		return "", err
	}
	return dir, os.Chown(dir, m.boot.UID, m.boot.GID)
}

func (m *machine) bind(source, target string, attributes uint64, aside bool) error {
	place, err := m.place(target, aside)
	if err != nil {
		return fmt.Errorf("folder %s: %w", target, err)
	}
	defer place.Close()
	if err := attach(source, place, attributes); err != nil {
		return err
	}
	m.mounted = append(m.mounted, target)
	return nil
}

// bindCache mounts the state disk's cache into the home. A link has its place
// moved aside too, wherever it leads.
func (m *machine) bindCache() error {
	home, err := os.OpenRoot(wire.GuestHome)
	if err != nil {
		return err
	}
	defer home.Close()
	if info, err := home.Lstat(".cache"); err == nil && !info.IsDir() {
		if err := place.Aside(home, ".cache"); err != nil {
			return err
		}
	}
	return m.bindOwn("cache", wire.GuestHome+"/.cache")
}

// place opens the folder at target to mount something on it, and makes it if
// it is missing. Below the home, where earlier sessions may have put links,
// the way never leaves the home, and what is made is the user's. What is no
// folder there moves aside if that is asked for, and is an error else.
func (m *machine) place(target string, aside bool) (*os.File, error) {
	if !filepath.IsAbs(target) || filepath.Clean(target) != target || target == "/" {
		return nil, errors.New("is no clean absolute path")
	}
	rest, below := strings.CutPrefix(target, wire.GuestHome+"/")
	if !below {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return nil, err
		}
		return os.OpenFile(target, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	}
	home, err := os.OpenRoot(wire.GuestHome)
	if err != nil {
		return nil, err
	}
	defer home.Close()
	return place.Below(home, rest, m.boot.UID, m.boot.GID, aside)
}

// validShare is a name that the host gives to a folder of the share device.
func validShare(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
