package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var namedTest = regexp.MustCompile("`([a-z][a-z0-9/]*) (Test[A-Za-z0-9]+)`")

// TestThreatModelNamesRealTests wants each test that docs/threat-model.md names,
// in the package it names, and at least one for each promise.
func TestThreatModelNamesRealTests(t *testing.T) {
	r := repository(t)
	text, err := os.ReadFile(filepath.Join(r.root, "docs", "threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	real := map[string]bool{}
	for _, f := range r.code {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test() && fn.Recv == nil {
				real[f.dir()+" "+fn.Name.Name] = true
			}
		}
	}
	for _, m := range namedTest.FindAllStringSubmatch(string(text), -1) {
		if name := m[1] + " " + m[2]; !real[name] {
			t.Errorf("docs/threat-model.md: there is no test %s: name the one that guards the promise now", name)
		}
	}
	for n := 1; n <= 8; n++ {
		row := ""
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, fmt.Sprintf("| P%d |", n)) {
				row = line
			}
		}
		if !namedTest.MatchString(row) {
			t.Errorf("docs/threat-model.md: promise P%d names no test", n)
		}
	}
}
