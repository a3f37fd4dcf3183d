package project

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	for path, want := range map[string]string{
		"/src/my-app":       "-src-my_2dapp",
		"/home/me/a b":      "-home-me-a_20b",
		"/a\nb":             "-a_0ab",
		"/grün":             "-gr_c3_bcn",
		"/a:b,c=d":          "-a_3ab_2cc_3dd",
		"/a_b":              "-a_5fb",
		"/..":               "-_2e_2e",
		"/":                 "-",
		"/\xff":             "-_ff",
		"/x/$(rm -rf)'\"`;": "-x-_24_28rm_20_2drf_29_27_22_60_3b",
	} {
		if got := Name(path); got != want {
			t.Errorf("Name(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestNameOfLongPath(t *testing.T) {
	long := strings.Repeat("/"+strings.Repeat("d", 99), 40) // 4,000 characters
	name := Name(long)
	// The name must not change: it leads to the user's login and history.
	want := ("-" + strings.Repeat("d", 99) + "-" + strings.Repeat("d", 66)) + "-74ebb13a29dffb662f23250cf6a21173"
	if len(name) != maxNameBytes || name != want {
		t.Errorf("Name = %q (%d bytes), want %q", name, len(name), want)
	}
	if other := Name(long[:len(long)-1] + "e"); other == name || other[:150] != name[:150] {
		t.Errorf("two long paths have the names %q and %q", name, other)
	}
	if at := Name("/" + strings.Repeat("d", maxNameBytes-1)); len(at) != maxNameBytes || strings.Count(at, "-") != 1 {
		t.Errorf("a name that just fits was cut: %q", at)
	}
}

// unname undoes Name for names that were not cut.
func unname(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '-':
			b.WriteByte('/')
		case '_':
			const digits = "0123456789abcdef"
			b.WriteByte(byte(strings.IndexByte(digits, name[i+1])<<4 | strings.IndexByte(digits, name[i+2])))
			i += 2
		default:
			b.WriteByte(name[i])
		}
	}
	return b.String()
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"/src/my-app", "", "/a b\n", "/\x00\xff", strings.Repeat("/ä", 200), ".removing-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		name := Name(path)
		if len(name) > maxNameBytes || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			t.Fatalf("Name(%q) = %q is no safe name", path, name)
		}
		if name != Name(path) {
			t.Errorf("Name(%q) is not stable", path)
		}
		if len(name) < maxNameBytes && unname(name) != path {
			t.Errorf("Name(%q) = %q stands for %q too", path, name, unname(name))
		}
	})
}
