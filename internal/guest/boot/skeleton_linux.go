package boot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aibox/internal/guest/names"
	"aibox/internal/wire"
)

// fillLocal gives a new state disk the folders and links of the image's
// /usr/local. Its files are left out: a copy would stay when the image's
// version changes. The folder gets its name when it is complete.
func (m *machine) fillLocal() error {
	local := filepath.Join(names.State, "local")
	if _, err := os.Lstat(local); err == nil {
		return nil
	}
	part := local + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := m.copySkeleton("/usr/local", part); err != nil {
		return fmt.Errorf("fill /usr/local: %w", err)
	}
	return os.Rename(part, local)
}

func (m *machine) copySkeleton(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		copied := to + strings.TrimPrefix(path, from)
		switch d.Type() {
		case fs.ModeDir:
			err = os.Mkdir(copied, 0o755)
		case fs.ModeSymlink:
			var target string
			if target, err = os.Readlink(path); err == nil {
				err = os.Symlink(target, copied)
			}
		default:
			return nil
		}
		if err != nil {
			return err
		}
		return os.Lchown(copied, m.boot.UID, m.boot.GID)
	})
}

// prepareHome copies /etc/skel into a home that has none of its files and was
// never used.
func (m *machine) prepareHome() error {
	home, err := os.OpenRoot(wire.GuestHome)
	if err != nil {
		return err
	}
	defer home.Close()
	used, err := fs.ReadDir(home.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range used {
		// What the host and init put there does not count.
		if n := e.Name(); n != ".cache" && !strings.HasPrefix(n, ".claude") {
			return nil
		}
	}
	files, err := os.ReadDir("/etc/skel")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if !f.Type().IsRegular() {
			continue
		}
		b, err := os.ReadFile(filepath.Join("/etc/skel", f.Name()))
		if err != nil {
			return err
		}
		if err := home.WriteFile(f.Name(), b, 0o644); err != nil {
			return err
		}
		if err := home.Lchown(f.Name(), m.boot.UID, m.boot.GID); err != nil {
			return err
		}
	}
	return nil
}
