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

// filesOfPackage is how many files a package of the tree has.
const filesOfPackage = 10

// treeFile returns the path of a file of an npm-like tree.
func treeFile(dir string, n int) string {
	name := []string{
		"package.json", "README.md", "LICENSE", "index.js", "lib/main.js", "lib/util.js", "lib/types.d.ts", "dist/bundle.js", "dist/bundle.js.map", "test/all.js",
	}[n%filesOfPackage]
	return filepath.Join(dir, "node_modules", fmt.Sprintf("package-%05d", n/filesOfPackage), name)
}

// tree makes, lists, reads and removes a tree, and prints how long each took.
func tree(dir string, files int) error {
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"make", func() error { return makeTree(dir, files) }},
		{"list", func() error { return listTree(dir, files) }},
		{"read", func() error { return readTree(dir, files) }},
		{"remove", func() error { return os.RemoveAll(filepath.Join(dir, "node_modules")) }},
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

// makeTree writes by many at once, as npm does.
func makeTree(dir string, files int) error {
	return each(func(racer int) error {
		for n := range files {
			if n/filesOfPackage%racers != racer {
				continue
			}
			path := treeFile(dir, n)
			err := os.WriteFile(path, content(n), 0o644)
			if errors.Is(err, fs.ErrNotExist) {
				err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content(n), 0o644))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// listTree wants each file once, with its size.
func listTree(dir string, files int) error {
	sizes := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if _, twice := sizes[path]; twice {
			return fmt.Errorf("%s is listed twice", path)
		}
		sizes[path] = info.Size()
		return nil
	})
	if err != nil {
		return err
	}
	for n := range files {
		if got, want := sizes[treeFile(dir, n)], int64(len(content(n))); got != want {
			return fmt.Errorf("%s: %d bytes, want %d", treeFile(dir, n), got, want)
		}
	}
	return verdict("files", len(sizes), files)
}

// readTree reads a tenth of the files.
func readTree(dir string, files int) error {
	for n := 3; n < files; n += 10 {
		got, err := os.ReadFile(treeFile(dir, n))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, content(n)) {
			return fmt.Errorf("%s holds something else", treeFile(dir, n))
		}
	}
	return nil
}

// fill makes the files of drain.
func fill(dir string, files int) error {
	for n := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file %06d", n)), nil, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// drain lists a folder of files and removes every second name as it gets it,
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
			if len(seen)%2 == 0 {
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
	return errors.Join(err, verdict("left", len(left), (files+1)/2))
}
