// Package away removes trees that the VM filled: first they move aside under a
// name that nothing else has, then they go, however deep they are and whatever is
// in them. It follows no link and enters no other file system.
package away

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// prefix begins the name of what is being removed, so that what a crash leaves
// behind is found again. No escaped path begins with a dot.
const prefix = ".removing-"

// FreeName returns a name in the folder for what is being removed.
func FreeName(root *os.Root) (string, error) {
	for i := range 10000 {
		name := fmt.Sprintf("%s%d", prefix, i)
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
	}
	return "", errors.New("too many leftovers of earlier removals")
}

// Move renames what is to be removed, so that it is gone at once and a
// crash leaves nothing that looks usable.
func Move(root *os.Root, name string) (string, error) {
	aside, err := FreeName(root)
	if err != nil {
		return "", err
	}
	return aside, root.Rename(name, aside)
}

// RemoveLeftovers removes what Move left, now or before a crash.
func RemoveLeftovers(ctx context.Context, root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	dir.Close()
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			if err := Remove(ctx, root, name); err != nil {
				return err
			}
		}
	}
	return nil
}
