package archtest

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// TestPackageDocs wants exactly one package comment per package, over all
// operating systems.
func TestPackageDocs(t *testing.T) {
	for dir, files := range byDir(repository(t).code) {
		var docs []string
		name, source := "", false
		for _, f := range files {
			if f.test() {
				continue
			}
			source, name = true, f.ast.Name.Name
			if f.ast.Doc == nil {
				continue
			}
			docs = append(docs, f.path)
			text := f.ast.Doc.Text()
			if !f.main() && !strings.HasPrefix(text, "Package "+name+" ") {
				t.Errorf("%s: the package comment does not begin with %q", f.path, "Package "+name)
			}
			if f.main() && !strings.HasPrefix(text, "Command ") {
				t.Errorf("%s: the package comment does not begin with %q", f.path, "Command "+f.base())
			}
		}
		switch {
		case source && len(docs) == 0:
			t.Errorf("%s: no package comment: say in one file what the package is for and what it is not", dir)
		case len(docs) > 1:
			t.Errorf("%s: %d package comments: keep one, and put an empty line below the others: %s", dir, len(docs), strings.Join(docs, ", "))
		}
	}
}

// TestExportedDocs wants a comment on every exported name.
func TestExportedDocs(t *testing.T) {
	r := repository(t)
	for _, f := range r.code {
		if f.test() || f.main() {
			continue
		}
		for _, missing := range undocumented(f.ast) {
			t.Errorf("%s: %s has no comment: state its contract, limits and errors", r.position(missing.node), missing.name)
		}
	}
}

type nameless struct {
	node ast.Node
	name string
}

// undocumented returns the exported names without a comment of their own or of
// the group they are in.
func undocumented(f *ast.File) (list []nameless) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) && !wellKnown(d) {
				list = append(list, nameless{d, d.Name.Name})
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				for _, name := range specNames(spec, d.Doc != nil) {
					list = append(list, nameless{name, name.Name})
				}
			}
		}
	}
	return list
}

// specNames returns the exported names of a spec that lacks a comment.
func specNames(spec ast.Spec, group bool) (names []*ast.Ident) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Doc == nil && !group && s.Name.IsExported() {
			return []*ast.Ident{s.Name}
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if s.Doc == nil && s.Comment == nil && !group && name.IsExported() {
				names = append(names, name)
			}
		}
	}
	return names
}

// exportedReceiver is true for functions and for methods of exported types.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	name, ok := typ.(*ast.Ident)
	return !ok || name.IsExported()
}

// wellKnown is true for methods whose contract is the standard library's.
func wellKnown(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return false
	}
	switch d.Name.Name {
	case "Error", "String", "Unwrap", "Is":
		return true
	}
	return false
}

// TestBorderPackages wants what makes a package readable that parses the VM's
// bytes: its four answers, its limits in one place, and a fuzz target.
func TestBorderPackages(t *testing.T) {
	exempt := newExceptions(t, "border packages", map[string]string{})
	r := repository(t)
	dirs := byDir(r.code)
	for _, dir := range keys(dirs) {
		if strings.Count(dir, "/") != 2 || !within(dir, "internal/border") {
			continue
		}
		has := map[string]bool{}
		for _, f := range dirs[dir] {
			has[f.base()] = true
			for _, fuzz := range fuzzTargets(f) {
				has["fuzz"] = has["fuzz"] || fuzz != ""
			}
		}
		for what, todo := range map[string]string{
			"doc.go":    "answer there who sends the bytes, which limits hold, what an attacker gains, what is logged",
			"limits.go": "name every limit on length, count and time there",
			"fuzz":      "write a Fuzz function with a seed corpus: no panic, zero value on error",
		} {
			if key := fmt.Sprintf("%s %s", dir, what); !has[what] && !exempt.has(key) {
				t.Errorf("%s: has no %s: %s", dir, what, todo)
			}
		}
	}
}

// fuzzTargets returns the names of a file's fuzz targets.
func fuzzTargets(f goFile) (names []string) {
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && f.test() && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Fuzz") {
			names = append(names, fn.Name.Name)
		}
	}
	return names
}
