package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// writeModule makes a module of the files and returns its folder.
func writeModule(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFind(t *testing.T) {
	const fuzz = "package x\nimport \"testing\"\nfunc FuzzB(f *testing.F) {}\nfunc FuzzA(f *testing.F) {}\nfunc Fuzzy() {}\n"
	root := writeModule(t, map[string]string{
		"b/b_test.go":             fuzz,
		"a/sub/a_test.go":         fuzz,
		"a/sub/other_test.go":     "//go:build neveros\n\n" + fuzz,
		"a/sub/x_plan9_test.go":   fuzz,
		"a/sub/notest.go":         fuzz,
		"a/testdata/t_test.go":    fuzz,
		".cache/c/c_test.go":      fuzz,
		"ab/without_test.go":      "package x\n",
		"ab/testdata/f/f_test.go": "no Go",
	})
	all := []target{{"a/sub", "FuzzA"}, {"a/sub", "FuzzB"}, {"b", "FuzzA"}, {"b", "FuzzB"}}
	for _, c := range []struct {
		dirs []string
		want []target
	}{
		{nil, all}, {[]string{"."}, all}, {[]string{"./..."}, all}, {[]string{"a"}, all[:2]}, {[]string{"./a/..."}, all[:2]},
		{[]string{"b/", "a/sub"}, all}, {[]string{"c"}, nil},
	} {
		got, err := find(root, c.dirs)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(target{})); err != nil || diff != "" {
			t.Errorf("find in %v: %v\n%s", c.dirs, err, diff)
		}
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		each, total time.Duration
		n           int
		want        time.Duration
	}{
		{10 * time.Second, time.Hour, 5, 10 * time.Second},
		{10 * time.Second, 60 * time.Second, 20, 3 * time.Second},
		{10 * time.Second, time.Second, 20, time.Second},
	} {
		if got := share(c.each, c.total, c.n); got != c.want {
			t.Errorf("share(%v, %v, %d) = %v, want %v", c.each, c.total, c.n, got, c.want)
		}
	}
}

// TestRun fuzzes a target that passes and one that fails for real.
func TestRun(t *testing.T) {
	root := writeModule(t, map[string]string{
		"go.mod": "module x\n\ngo 1.26\n",
		"x_test.go": "package x\n\nimport \"testing\"\n\n" +
			"func FuzzGood(f *testing.F) { f.Add(1); f.Fuzz(func(t *testing.T, n int) {}) }\n" +
			"func FuzzBad(f *testing.F) { f.Add(1); f.Fuzz(func(t *testing.T, n int) { t.Fatal(\"as planned\") }) }\n",
	})
	good := run(t.Context(), root, target{".", "FuzzGood"}, time.Second)
	if good.err != nil || good.executions == "0" || !strings.HasPrefix(good.String(), "ok ") {
		t.Errorf("good target: %s", good)
	}
	bad := run(t.Context(), root, target{".", "FuzzBad"}, time.Second)
	if bad.err == nil || !strings.Contains(bad.String(), "as planned") || !strings.HasPrefix(bad.String(), "FAIL ") {
		t.Errorf("bad target: %s", bad)
	}
}

func TestCutOff(t *testing.T) {
	const head = "fuzz: elapsed: 11s, execs: 213229 (0/sec), new interesting: 21 (total: 22)\n--- FAIL: FuzzNumbers (11.03s)\n"
	if !cutOff.MatchString(head + "    context deadline exceeded\nFAIL\nexit status 1\n") {
		t.Error("a target that was cut off counts as failed")
	}
	for _, failure := range []string{
		"    x_test.go:5: context deadline exceeded\nFAIL\n",
		"    fuzzing process hung or terminated unexpectedly: exit status 2\nFAIL\n",
		"    context deadline exceeded\n    Failing input written to testdata/fuzz/FuzzNumbers/1\nFAIL\n",
	} {
		if cutOff.MatchString(head + failure) {
			t.Errorf("%q counts as cut off", failure)
		}
	}
}
