package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// quiet are the calls that code must leave to its caller, by package and name.
// A name that ends in * stands for all that begin so.
func quiet() map[string]struct{ names, todo string } {
	return map[string]struct{ names, todo string }{
		"os":  {"Exit", "return an error; only main ends the program"},
		"log": {"*", "take a *slog.Logger as an argument"},
		"log/slog": {"Default SetDefault Debug Info Warn Error Log DebugContext InfoContext WarnContext ErrorContext",
			"take a *slog.Logger as an argument"},
		"fmt":           {"Print*", "take an io.Writer as an argument; only cli prints"},
		"runtime/debug": {"PrintStack", "return an error"},
	}
}

// raw are the calls around Go's type system, beside imports of unsafe and C.
func raw() map[string]string {
	const calls = "Syscall* RawSyscall* SyscallN*"
	return map[string]string{"syscall": calls, "golang.org/x/sys/unix": calls, "golang.org/x/sys/windows": calls}
}

var rawFile = regexp.MustCompile(`_(unsafe|cgo)(_[a-z0-9]+)*\.go$|_syscall(_[a-z0-9]+)+\.go$`)

// mayPrint is true for what talks to a terminal or is a tool of the developers.
func mayPrint(dir string) bool {
	return within(dir, "cmd") || within(dir, "internal/cli") || within(dir, "test") || within(dir, "image")
}

func TestCalls(t *testing.T) {
	exempt := newExceptions(t, "calls", map[string]string{})
	r := repository(t)
	for _, f := range r.code {
		if f.test() {
			continue
		}
		for _, p := range checkCalls(f) {
			if !exempt.has(f.path + " " + p.what) {
				t.Errorf("%s: %s: %s", r.position(p.node), p.what, p.todo)
			}
		}
	}
}

type problem struct {
	node       ast.Node
	what, todo string
}

// checkCalls returns the calls and imports of a file that the rules forbid.
func checkCalls(f goFile) (list []problem) {
	imports := importNames(f.ast)
	for _, spec := range f.ast.Imports {
		if p := importPath(spec); (p == "unsafe" || p == "C") && !rawFile.MatchString(f.path) {
			list = append(list, problem{spec, "import " + p, "move this code to a file that ends in _unsafe.go or _unsafe_<os>.go"})
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				list = append(list, problem{n, "init function", "call it from where it is needed"})
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Obj == nil {
				list = append(list, checkBuiltin(f, n, id.Name)...)
			}
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok || id.Obj != nil || imports[id.Name] == "" {
				return true
			}
			list = append(list, checkSelector(f, n, imports[id.Name])...)
		}
		return true
	})
	return list
}

func checkBuiltin(f goFile, call *ast.CallExpr, name string) []problem {
	switch {
	case name == "panic" && !f.main() && !bug(call):
		return []problem{{call, "panic", `return an error; for a programmer's mistake begin the text with "bug:"`}}
	case name == "print" || name == "println":
		return []problem{{call, name, "remove it, it is for debugging"}}
	}
	return nil
}

// bug tells whether a panic's argument begins with the text "bug:".
func bug(call *ast.CallExpr) bool {
	if len(call.Args) != 1 {
		return false
	}
	first := ""
	ast.Inspect(call.Args[0], func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && first == "" && lit.Kind == token.STRING {
			first = lit.Value
		}
		return first == ""
	})
	return strings.HasPrefix(strings.Trim(first, "\"`"), "bug:")
}

func checkSelector(f goFile, n *ast.SelectorExpr, pkg string) (list []problem) {
	what := pkg + "." + n.Sel.Name
	q := quiet()[pkg]
	allowed := f.main() || pkg == "fmt" && mayPrint(f.dir())
	if !allowed && named(n.Sel.Name, q.names) {
		list = append(list, problem{n, what, q.todo})
	}
	if named(n.Sel.Name, raw()[pkg]) && !rawFile.MatchString(f.path) {
		list = append(list, problem{n, what, "use the typed call of golang.org/x/sys, or move this code to a file that ends in _syscall_<os>.go"})
	}
	return list
}

// named tells whether name is in the list of names.
func named(name, list string) bool {
	for pattern := range strings.FieldsSeq(list) {
		prefix, any := strings.CutSuffix(pattern, "*")
		if name == pattern || any && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// importNames returns the paths of a file's imports by the names they have in it.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		p := importPath(spec)
		name := p[strings.LastIndex(p, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return p
}
