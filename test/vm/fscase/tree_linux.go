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

// treeFile returns the package and the name of a file of an npm-like tree.
func treeFile(n int) (folder, name string) {
	name = []string{
		"package.json", "README.md", "LICENSE", "index.js", "lib/main.js", "lib/util.js", "lib/types.d.ts", "dist/bundle.js", "dist/bundle.js.map", "dist/all.js",
	}[n%filesOfPackage]
	return fmt.Sprintf("package-%05d", n/filesOfPackage), name
}

// tree makes, lists, reads and removes a tree, and prints how long each took.
func tree(dir string, files int) error {
	modules := filepath.Join(dir, "node_modules")
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"make", func() error {
			return errors.Join(os.Mkdir(modules, 0o755), each(func(i int) error { return makeTree(modules, files, i) }))
		}},
		{"list", func() error { return listTree(modules, files) }},
		{"read", func() error { return readTree(modules, files) }},
		{"remove", func() error { return os.RemoveAll(modules) }},
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

// makeTree makes every racer's packages, many at once as npm does.
func makeTree(dir string, files, racer int) error {
	for first := racer * filesOfPackage; first < files; first += racers * filesOfPackage {
		folder, _ := treeFile(first)
		if err := makePackage(filepath.Join(dir, folder), first); err != nil {
			return err
		}
	}
	return nil
}

func makePackage(dir string, first int) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := errors.Join(root.Mkdir("lib", 0o755), root.Mkdir("dist", 0o755)); err != nil {
		return err
	}
	for n := first; n < first+filesOfPackage; n++ {
		_, name := treeFile(n)
		if err := root.WriteFile(name, content(n), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// listTree wants each file once, with its size.
func listTree(dir string, files int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	packages, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	if err := verdict("packages", len(packages), files/filesOfPackage); err != nil {
		return err
	}
	for i, p := range packages { // sorted by name
		if err := listPackage(root, p.Name(), i*filesOfPackage); err != nil {
			return err
		}
	}
	return nil
}

func listPackage(root *os.Root, folder string, first int) error {
	sub, err := root.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer sub.Close()
	sizes := map[string]int64{}
	err = fs.WalkDir(sub.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sizes[path] = info.Size()
		return nil
	})
	for n := first; n < first+filesOfPackage; n++ {
		if want, name := treeFile(n); folder != want || sizes[name] != int64(len(content(n))) {
			err = errors.Join(err, fmt.Errorf("%s/%s has %d bytes, want %d in %s", folder, name, sizes[name], len(content(n)), want))
		}
	}
	return errors.Join(err, verdict("files of "+folder, len(sizes), filesOfPackage))
}

// readTree reads one file of each package.
func readTree(dir string, files int) error {
	for n := 3; n < files; n += filesOfPackage {
		folder, name := treeFile(n)
		got, err := os.ReadFile(filepath.Join(dir, folder, name))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, content(n)) {
			return fmt.Errorf("%s/%s holds something else", folder, name)
		}
	}
	return nil
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
