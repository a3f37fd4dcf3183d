package ide

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// NoLinks returns a check that refuses a path below the folder dir, clean and
// relative, of which any part is a link now. A part that does not exist ends the
// path. It works under aibox's confinement, which forbids to open the folders.
func NoLinks(dir *os.File) func(rel string) error {
	return func(rel string) error {
		if rel == "." {
			return nil
		}
		parts := strings.Split(rel, "/")
		for i := range parts {
			part := strings.Join(parts[:i+1], "/")
			var stat unix.Stat_t
			err := unix.Fstatat(int(dir.Fd()), part, &stat, unix.AT_SYMLINK_NOFOLLOW)
			switch {
			case errors.Is(err, unix.ENOENT):
				return nil
			case err != nil:
				return fmt.Errorf("look at %q in the project: %w", part, err)
			case stat.Mode&unix.S_IFMT == unix.S_IFLNK:
				return fmt.Errorf("%q in the project is a link", part)
			}
		}
		return nil
	}
}

// alive tells whether a process of the user's has the id.
func alive(pid int) bool { return pid > 0 && unix.Kill(pid, 0) == nil }
