package archtest

import (
	"go/ast"
	"testing"
)

// Limits in lines. A file of 300 and a function of 35 are long already.
const (
	maxFileLines          = 500
	maxFunctionLines      = 70
	maxPackageLines       = 1500
	maxBorderFileLines    = 300
	maxBorderPackageLines = 800
	maxMainLines          = 40
)

func TestSizes(t *testing.T) {
	large := newExceptions(t, "sizes", map[string]string{})
	r := repository(t)
	for dir, files := range byDir(r.code) {
		border := within(dir, "internal/border")
		total := 0
		for _, f := range files {
			if f.test() {
				continue
			}
			total += f.lines()
			limit := maxFileLines
			switch {
			case border:
				limit = maxBorderFileLines
			case within(dir, "cmd"):
				limit = maxMainLines
			}
			if f.lines() > limit && !large.has(f.path) {
				t.Errorf("%s: %d lines, at most %d: split it by what it is about", f.path, f.lines(), limit)
			}
			checkFunctions(t, r, f, large)
		}
		limit := maxPackageLines
		if border {
			limit = maxBorderPackageLines
		}
		if total > limit && !large.has(dir) {
			t.Errorf("%s: %d lines without tests, at most %d: make two packages along a border of trust, rights or platform", dir, total, limit)
		}
	}
}

func checkFunctions(t *testing.T, r *repo, f goFile, large *exceptions) {
	t.Helper()
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		lines := r.fset.Position(fn.End()).Line - r.fset.Position(fn.Pos()).Line + 1
		if lines > maxFunctionLines && !large.has(f.path+" "+fn.Name.Name) {
			t.Errorf("%s: function %s has %d lines, at most %d: name its parts", r.position(fn), fn.Name.Name, lines, maxFunctionLines)
		}
	}
}
