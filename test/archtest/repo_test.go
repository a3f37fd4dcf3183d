package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is the path of the repository's module.
const module = "aibox"

// goFile is one parsed Go file. Its path is relative to the root, with slashes.
type goFile struct {
	path string
	ast  *ast.File
	src  []byte
}

func (f goFile) dir() string  { return path.Dir(f.path) }
func (f goFile) test() bool   { return strings.HasSuffix(f.path, "_test.go") }
func (f goFile) main() bool   { return f.ast.Name.Name == "main" }
func (f goFile) lines() int   { return bytes.Count(f.src, []byte{'\n'}) }
func (f goFile) base() string { return path.Base(f.path) }

// repo is what all tests look at, read once.
type repo struct {
	root  string
	files []string // all files of the repository, without what git ignores
	fset  *token.FileSet
	code  []goFile
}

var load = sync.OnceValues(func() (*repo, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, err
	}
	r := &repo{root: strings.TrimSpace(string(out)), fset: token.NewFileSet()}
	if r.files, err = listFiles(r.root); err != nil {
		return nil, err
	}
	for _, name := range r.files {
		if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
			continue
		}
		src, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(r.fset, name, src, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		r.code = append(r.code, goFile{name, f, src})
	}
	return r, nil
})

func repository(t *testing.T) *repo {
	t.Helper()
	r, err := load()
	if err != nil {
		t.Fatalf("read the repository: %v", err)
	}
	return r
}

// listFiles asks git for the files, new ones included. Without git, as in an
// unpacked source archive, it lists all but the folders that git would ignore.
func listFiles(root string) ([]string, error) {
	cmd := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	var files []string
	if out, err := cmd.Output(); err == nil {
		for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if info, err := os.Lstat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
				files = append(files, name)
			}
		}
		return files, nil
	}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, p)
		switch {
		case d.IsDir() && (name == ".git" || name == ".cache" || name == "bin"):
			return fs.SkipDir
		case d.Type().IsRegular():
			files = append(files, filepath.ToSlash(name))
		}
		return err
	})
	return files, err
}

// position is "file:line" of a node.
func (r *repo) position(n ast.Node) string {
	p := r.fset.Position(n.Pos())
	p.Column = 0
	return p.String()
}

// byDir groups files by their folder.
func byDir(files []goFile) map[string][]goFile {
	dirs := map[string][]goFile{}
	for _, f := range files {
		dirs[f.dir()] = append(dirs[f.dir()], f)
	}
	return dirs
}

// pkg is what the tests need of `go list -json`.
type pkg struct {
	ImportPath string
	Name       string
	Standard   bool
	Imports    []string
	Deps       []string
	Module     *struct {
		Path    string
		Version string
		Dir     string
		Main    bool
	}
}

// goList lists packages as an operating system sees them.
func goList(t *testing.T, goos string, args ...string) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-e", "-json=ImportPath,Name,Standard,Imports,Deps,Module"}, args...)...)
	cmd.Dir = repository(t).root
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v\n%s", goos, err, stderr.String())
	}
	var list []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatalf("go list for %s: %v", goos, err)
		}
		list = append(list, p)
	}
}

// exceptions are reasons by what they except. Each has to be used.
type exceptions struct {
	name    string
	reasons map[string]string
	used    map[string]bool
}

func newExceptions(t *testing.T, name string, reasons map[string]string) *exceptions {
	e := &exceptions{name, reasons, map[string]bool{}}
	t.Cleanup(func() {
		for key, reason := range reasons {
			if !e.used[key] {
				t.Errorf("%s: the exception %q is no longer needed: remove it", name, key)
			}
			if reason == "" {
				t.Errorf("%s: the exception %q has no reason: write one", name, key)
			}
		}
	})
	return e
}

func (e *exceptions) has(key string) bool {
	if _, ok := e.reasons[key]; !ok {
		return false
	}
	e.used[key] = true
	return true
}
