package helper

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSplit(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "/", "/a", "a/", "a//b", "./a", "a/./b", "../a", "a/../b", "a/..", "a\x00b", "\xff"} {
		if names, err := split(bad); err == nil {
			t.Errorf("split(%q) = %q, want an error", bad, names)
		}
	}
	names, err := split(".claude/ide/3131.lock")
	if err != nil || len(names) != 3 || names[2] != "3131.lock" {
		t.Errorf("split = %q, %v", names, err)
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{".claude.json", "a/b/c", "../x", "a/../../x", "/x", "a\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		names, err := split(p)
		if err != nil {
			if names != nil {
				t.Errorf("names %q beside an error", names)
			}
			return
		}
		for _, n := range names {
			if n == "" || n == "." || n == ".." || strings.ContainsAny(n, "/\x00") {
				t.Errorf("split(%q) has the name %q", p, n)
			}
		}
		if strings.Join(names, "/") != p {
			t.Errorf("split(%q) = %q", p, names)
		}
	})
}

func TestIdentityText(t *testing.T) {
	for _, test := range []struct {
		out  string
		want Identity
	}{
		{"", Identity{}},
		{"user.name\nAnn\x00user.email\na@b\x00", Identity{Name: "Ann", Email: "a@b"}},
		{"user.name\nAnn\x00user.name\nÁnn Ö\x00", Identity{Name: "Ánn Ö"}},
		{"user.name\nAnn\x00user.name\nA\x1b[31m\x00", Identity{}},
		{"user.name\nA\nB\x00user.email\n" + strings.Repeat("x", 257) + "\x00", Identity{}},
		{"user.name\x00core.pager\nx\x00", Identity{}},
		{"user.email\n\xff\x00", Identity{}},
	} {
		if got := identity([]byte(test.out)); got != test.want {
			t.Errorf("identity(%q) = %+v, want %+v", test.out, got, test.want)
		}
	}
}

func FuzzIdentity(f *testing.F) {
	f.Add([]byte("user.name\nAnn\x00user.email\na@b\x00"))
	f.Add([]byte("user.name\nA\x1bB\x00\x00\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		id := identity(b)
		for _, v := range []string{id.Name, id.Email} {
			if !line(v) {
				t.Errorf("identity(%q) has %q", b, v)
			}
		}
	})
}

func TestIncludes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"work", "home-work", "sub/own"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listed := strings.Join([]string{
		"include.path\nwork",
		"include.path\nsub/own",
		"includeif.gitdir:~/w/.path\n" + dir + "/home-work",
		"include.path\n/no/such/file",
		"include.path\n" + dir, // a folder
		"include.path", "include.path\n", "",
	}, "\x00") + "\x00"
	got := includes([]byte(listed), dir)
	want := []string{filepath.Join(dir, "work"), filepath.Join(dir, "sub/own"), filepath.Join(dir, "home-work")}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("includes = %q, want %q", got, want)
	}
}

// deadline is a context that ends before the test does.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
