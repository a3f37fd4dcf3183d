package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for _, c := range []struct{ name, in, out, err string }{
		{"pass and skip", `{"Action":"pass","Package":"aibox/p","Test":"TestA","Elapsed":1}
{"Action":"pass","Package":"aibox/p","Test":"TestA/sub"}
{"Action":"output","Package":"aibox/p","Test":"TestB","Output":"needs KVM\n"}
{"Action":"skip","Package":"aibox/p","Test":"TestB"}
{"Action":"pass","Package":"aibox/p"}`, "pass p TestA (1.0 s)\nneeds KVM\nskip p TestB (0.0 s)\n1 passed, 0 failed, 1 skipped\n", ""},
		{"fail", `{"Action":"output","Package":"aibox/p","Test":"TestA","Output":"why\n"}
{"Action":"fail","Package":"aibox/p","Test":"TestA"}
{"Action":"fail","Package":"aibox/p"}`, "why\nfail p TestA (0.0 s)\n0 passed, 1 failed, 0 skipped\n", "tests failed"},
		{"package fails alone", `{"Action":"pass","Package":"aibox/q","Test":"TestA"}
{"Action":"fail","Package":"aibox/p"}`, "pass q TestA (0.0 s)\n1 passed, 0 failed, 0 skipped\n", "failed outside a test: aibox/p"},
		{"hangs", `{"Action":"output","Package":"aibox/p","Test":"TestA","Output":"goroutine 1\n"}
{"Action":"fail","Package":"aibox/p"}`, "goroutine 1\n0 passed, 0 failed, 0 skipped\n", "failed outside a test: aibox/p"},
		{"nothing", "", "0 passed, 0 failed, 0 skipped\n", "no test passed"},
		{"not JSON", "panic: x", "panic: x\n0 passed, 0 failed, 0 skipped\n", "no test passed"},
	} {
		var out strings.Builder
		err := run(strings.NewReader(c.in), &out, "", "", false)
		if got := out.String(); got != c.out {
			t.Errorf("%s: printed %q, want %q", c.name, got, c.out)
		}
		if got := errorText(err); got != c.err {
			t.Errorf("%s: error %q, want %q", c.name, got, c.err)
		}
	}
}

func TestTotal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sum")
	for _, in := range []string{`{"Action":"pass","Package":"p","Test":"TestA"}`, `{"Action":"fail","Package":"p","Test":"TestA"}`} {
		_ = run(strings.NewReader(in), &strings.Builder{}, path, "", false)
	}
	var out strings.Builder
	if err := run(nil, &out, "", path, false); err != nil || out.String() != "1 passed, 1 failed, 0 skipped\n" {
		t.Errorf("total %q, %v", out.String(), err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
