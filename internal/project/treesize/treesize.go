// Package treesize tells how much of the disk a tree takes that a VM may have filled.
package treesize

import (
	"context"
	"io"
	"os"
	"strings"
	"time"
)

// MaxLook is how long the size of one project is added up: the VM can make
// millions of files.
const MaxLook = 3 * time.Second

const (
	maxDepth = 128  // how deep it is looked: the VM can make trees of any depth
	lookAt   = 1000 // names of a folder that are read at a time
)

// Of adds up what a tree takes, for no longer than limit, and tells whether
// something is left out: what lies too deep, cannot be read, or is too much. It
// goes through os.Root, so that a folder which a running VM swaps for a link leads
// nowhere. The error is ctx's.
func Of(ctx context.Context, dir string, limit time.Duration) (size int64, partial bool, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, true, nil
	}
	defer root.Close()
	end := time.Now().Add(limit)
	for folders := []string{"."}; len(folders) > 0; {
		path := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		f, err := root.OpenFile(path, openFolder, 0)
		if err != nil {
			partial = true
			continue
		}
		for {
			if ctx.Err() != nil || !time.Now().Before(end) {
				f.Close()
				return size, true, ctx.Err()
			}
			entries, err := f.ReadDir(lookAt)
			for _, e := range entries {
				info, err := e.Info()
				if err != nil {
					continue // it was removed
				}
				size += Allocated(info)
				switch {
				case e.IsDir() && strings.Count(path, "/") >= maxDepth:
					partial = true
				case e.IsDir():
					folders = append(folders, path+"/"+e.Name())
				}
			}
			if err != nil {
				partial = partial || err != io.EOF
				break
			}
		}
		f.Close()
	}
	return size, partial, nil
}
