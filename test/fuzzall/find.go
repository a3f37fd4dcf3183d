package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// target is one fuzz function.
type target struct {
	dir  string // relative to the module's root, with slashes
	name string
}

// String is how the target is named in output.
func (t target) String() string { return t.dir + " " + t.name }

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module's root: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// find returns the fuzz targets below the folders, or below root if there are
// none, that this operating system builds, sorted.
func find(root string, dirs []string) (list []target, err error) {
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		dir = filepath.ToSlash(dir)
		if err != nil || !strings.HasSuffix(file, "_test.go") || !chosen(dir, dirs) {
			return err
		}
		match, err := build.Default.MatchFile(filepath.Dir(file), filepath.Base(file))
		if err != nil || !match {
			return err
		}
		names, err := fuzzFunctions(file)
		for _, name := range names {
			list = append(list, target{dir, name})
		}
		return err
	})
	slices.SortFunc(list, func(a, b target) int { return strings.Compare(a.String(), b.String()) })
	return list, err
}

// chosen tells whether dir is one of dirs or below it.
func chosen(dir string, dirs []string) bool {
	return len(dirs) == 0 || slices.ContainsFunc(dirs, func(d string) bool {
		d = path.Clean(strings.TrimSuffix(filepath.ToSlash(d), "..."))
		return d == "." || dir == d || strings.HasPrefix(dir, d+"/")
	})
}

// fuzzFunctions returns the names of a file's functions FuzzX(*testing.F).
func fuzzFunctions(file string) (names []string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Fuzz") && len(fn.Type.Params.List) == 1 {
			names = append(names, fn.Name.Name)
		}
	}
	return names, nil
}
