package archtest

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// TestPackageVariables lets a package have variables that are constants in all
// but name: sentinel errors, compiled expressions, embedded files, and tables
// that nothing in the package writes to. What changes while the program runs
// belongs into a value that someone owns.
func TestPackageVariables(t *testing.T) {
	exempt := newExceptions(t, "package variables", map[string]string{
		"internal/proc starter": "parent-death signals follow the thread that starts a child, so one thread serves the whole process",
	})
	r := repository(t)
	for dir, all := range byDir(r.code) {
		var files []*ast.File
		for _, f := range all {
			if !f.test() {
				files = append(files, f.ast)
			}
		}
		for _, p := range mutableVars(files) {
			if !exempt.has(dir + " " + p.what) {
				t.Errorf("%s: package variable %s %s", r.position(p.node), p.what, p.todo)
			}
		}
	}
}

// variable is a package variable of one file.
type variable struct {
	name  *ast.Ident
	value ast.Expr // nil for none
	typ   ast.Expr // nil for none
	embed bool
}

// mutableVars returns the package variables that the rule refuses. It looks at
// syntax alone, so it may miss a write through a pointer someone else holds.
func mutableVars(files []*ast.File) (list []problem) {
	for _, f := range files {
		for _, v := range packageVars(f) {
			switch {
			case v.embed || v.name.Name == "_":
			case stateful(v.typ) || stateful(v.value):
				list = append(list, problem{v.name, v.name.Name, "holds state: make it a field of a value that someone owns"})
			case v.name.IsExported() && !sentinel(v):
				list = append(list, problem{v.name, v.name.Name, "is exported, so anyone may write it: make it a function or a constant"})
			default:
				if n := writes(files, f, v); n != nil {
					list = append(list, problem{n, v.name.Name, "is written here: make it a field of a value that someone owns"})
				}
			}
		}
	}
	return list
}

func packageVars(f *ast.File) (list []variable) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			s, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, name := range s.Names {
				v := variable{name: name, typ: s.Type, embed: embedded(g.Doc) || embedded(s.Doc)}
				if i < len(s.Values) {
					v.value = s.Values[i]
				}
				list = append(list, v)
			}
		}
	}
	return list
}

func embedded(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if strings.HasPrefix(c.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

// stateful tells whether a type or value is made to change: locks, pools,
// atomics, channels, buffers, flags.
func stateful(e ast.Expr) bool {
	found := false
	if e == nil {
		return false
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ChanType:
			found = true
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				switch id.Name {
				case "sync", "atomic", "flag", "expvar":
					found = true
				}
				found = found || id.Name == "bytes" && n.Sel.Name == "Buffer"
			}
		}
		return !found
	})
	return found
}

// sentinel is true for errors and compiled expressions, which nobody writes.
func sentinel(v variable) bool {
	call, ok := v.value.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && (pkg.Name == "errors" && sel.Sel.Name == "New" || pkg.Name == "fmt" && sel.Sel.Name == "Errorf" ||
		pkg.Name == "regexp" && sel.Sel.Name == "MustCompile")
}

// writes returns the first place that assigns to the variable or to a part of
// it, or takes its address, or deletes from it.
func writes(files []*ast.File, owner *ast.File, v variable) (place ast.Node) {
	for _, f := range files {
		is := func(e ast.Expr) bool {
			id := root(e)
			if id == nil || id.Name != v.name.Name {
				return false
			}
			if f == owner {
				return id.Obj == v.name.Obj
			}
			return id.Obj == nil // not declared in that file, hence the package's
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					if n.Tok != token.DEFINE && is(e) {
						place = n
					}
				}
			case *ast.IncDecStmt:
				if is(n.X) {
					place = n
				}
			case *ast.UnaryExpr:
				if n.Op == token.AND && is(n.X) {
					place = n
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (id.Name == "delete" || id.Name == "clear") && is(n.Args[0]) {
					place = n
				}
			}
			return place == nil
		})
		if place != nil {
			return place
		}
	}
	return nil
}

// root returns x of x, x.f, x[i], *x and their like.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}
