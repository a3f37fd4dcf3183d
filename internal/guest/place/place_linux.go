package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Below opens the folder at name below home, and makes what is missing of
// the way to it as the user's. Links are followed inside home and lead nowhere
// else. What is no folder there moves aside if that is asked for, and is an error
// else.
func Below(home *os.Root, name string, uid, gid int, aside bool) (*os.File, error) {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		err := home.Mkdir(name[:i], 0o755)
		if aside && errors.Is(err, fs.ErrExist) && !isFolder(home, name[:i]) {
			if err := Aside(home, name[:i]); err != nil {
				return nil, err
			}
			err = home.Mkdir(name[:i], 0o755)
		}
		if err == nil {
			err = home.Lchown(name[:i], uid, gid)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("make it in the home, which links must not lead out of: %w", err)
		}
	}
	return home.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY, 0)
}

// Aside gives what has a name in the home, and is no folder, another name: the
// user cannot repair it from outside the VM, so it must not keep the VM from
// starting.
func Aside(home *os.Root, name string) (err error) {
	const tries = 100 // a session may have made folders of the other names
	for i := range tries {
		to := name + ".replaced"
		if i > 0 {
			to += "." + strconv.Itoa(i)
		}
		if _, err = home.Lstat(to); err == nil {
			err = fs.ErrExist
			continue
		}
		if err = home.Rename(name, to); err == nil {
			return nil
		}
	}
	return fmt.Errorf("move ~/%s aside: %w", name, err)
}

// isFolder tells whether a name in the home is a folder, or a link to one in it.
func isFolder(home *os.Root, name string) bool {
	info, err := home.Stat(name)
	return err == nil && info.IsDir()
}
