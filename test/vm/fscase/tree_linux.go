package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// filesOfFolder is how many files each folder of the tree has.
const filesOfFolder = 5

// treeFile returns the folder and the name of a file of an npm-like tree: packages
// with a folder lib.
func treeFile(n int) (folder, name string) {
	folder = fmt.Sprintf("package-%05d", n/(2*filesOfFolder))
	if n/filesOfFolder%2 == 1 {
		folder += "/lib"
	}
	return folder, []string{"LICENSE", "README.md", "index.js", "index.js.map", "package.json"}[n%filesOfFolder]
}

// tree makes, lists, reads and removes a tree, many at once as npm does, and
// prints how long each took.
func tree(dir string, files int) error {
	modules := filepath.Join(dir, "node_modules")
	if err := os.Mkdir(modules, 0o755); err != nil {
		return err
	}
	all := func(do func(dir string, first int) error) func() error {
		return func() error { return each(func(racer int) error { return folders(modules, files, racer, do) }) }
	}
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"make", all(makeFolder)}, {"list", all(listFolder)}, {"read", all(readFolder)}, {"remove", all(removePackage)}, {"end", func() error { return os.Remove(modules) }},
	} {
		start := time.Now()
		if err := part.do(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Printf("%s %.1fs  ", part.name, time.Since(start).Seconds())
	}
	fmt.Println()
	return nil
}

func content(n int) []byte { return pattern(uint64(n), 50+n%1500) }

// folders goes through a racer's folders, each package before its lib.
func folders(modules string, files, racer int, do func(dir string, first int) error) error {
	for first := 0; first < files; first += filesOfFolder {
		if first/(2*filesOfFolder)%racers != racer {
			continue
		}
		folder, _ := treeFile(first)
		if err := do(filepath.Join(modules, folder), first); err != nil {
			return err
		}
	}
	return nil
}

func makeFolder(dir string, first int) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for n := first; n < first+filesOfFolder; n++ {
		_, name := treeFile(n)
		if err := root.WriteFile(name, content(n), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// listFolder wants each file once, with its size.
func listFolder(dir string, first int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".") // sorted by name
	if err != nil {
		return err
	}
	n := first
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		info, err := root.Lstat(e.Name())
		if err != nil {
			return err
		}
		if _, want := treeFile(n); e.Name() != want || info.Size() != int64(len(content(n))) {
			return fmt.Errorf("%s/%s has %d bytes, want %s of %d", dir, e.Name(), info.Size(), want, len(content(n)))
		}
		n++
	}
	return verdict("files of "+dir, n-first, filesOfFolder)
}

// readFolder reads one file of a folder.
func readFolder(dir string, first int) error {
	_, name := treeFile(first + 3)
	got, err := os.ReadFile(filepath.Join(dir, name))
	if err == nil && !bytes.Equal(got, content(first+3)) {
		err = fmt.Errorf("%s/%s holds something else", dir, name)
	}
	return err
}

// removePackage removes a package when its first folder's turn is.
func removePackage(dir string, first int) error {
	if first/filesOfFolder%2 == 1 {
		return nil
	}
	return os.RemoveAll(dir)
}

// drain lists a folder of files and removes every tenth name as it gets it,
// while the listing goes on. It wants each name exactly once.
func drain(dir string, files int) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	seen := map[string]bool{}
	b := make([]byte, 32<<10)
	for {
		n, err := unix.ReadDirent(fd, b)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		_, _, names := unix.ParseDirent(b[:n], -1, nil)
		for _, name := range names {
			if seen[name] {
				return fmt.Errorf("%q is listed twice", name)
			}
			seen[name] = true
			if len(seen)%10 == 0 {
				if err := unix.Unlinkat(fd, name, 0); err != nil {
					return fmt.Errorf("remove %q: %w", name, err)
				}
			}
		}
	}
	if err := verdict("names", len(seen), files); err != nil {
		return err
	}
	left, err := os.ReadDir(dir)
	return errors.Join(err, verdict("left", len(left), files-files/10))
}
