package cache

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func open(t *testing.T, dir string) *Cache {
	t.Helper()
	c, err := Open(t.Context(), dir, func() { t.Error("the cache is locked") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func write(name, text string) func(out, scratch string) error {
	return func(out, scratch string) error { return os.WriteFile(filepath.Join(out, name), []byte(text), 0o644) }
}

func keyOf(part string) string {
	k := NewKey("step", 1)
	k.Text(part)
	return k.String()
}

func TestResultAppearsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	key := keyOf("a")
	fault := errors.New("disk full")
	err := c.Add("step", key, func(out, scratch string) error {
		if err := os.WriteFile(filepath.Join(out, "half"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return fault
	})
	if !errors.Is(err, fault) {
		t.Fatalf("Add is %v, want the step's error", err)
	}
	if _, found := c.Find("step", key); found {
		t.Error("a failed step left a result")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, tmpPrefix+"*")); len(left) != 0 {
		t.Errorf("a failed step left %v", left)
	}
	if err := c.Add("step", key, write("file", "x")); err != nil {
		t.Fatal(err)
	}
	got, found := c.Find("step", key)
	if text, err := os.ReadFile(filepath.Join(got, "file")); !found || err != nil || string(text) != "x" {
		t.Errorf("the result is %q, %v, %v", text, found, err)
	}
}

func TestOpenClearsWhatADeadBuildLeft(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, tmpPrefix+"kernel-1", "out")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(left, 0o500); err != nil { // an unpacked tree has such folders
		t.Fatal(err)
	}
	open(t, dir)
	if _, err := os.Stat(filepath.Dir(left)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", left, err)
	}
}

func TestSecondBuildWaits(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	waiting := make(chan struct{})
	opened := make(chan error)
	go func() {
		second, err := Open(t.Context(), dir, func() { close(waiting) })
		if err == nil {
			err = second.Close()
		}
		opened <- err
	}()
	<-waiting
	select {
	case err := <-opened:
		t.Fatalf("two builds hold the cache: %v", err)
	default:
	}
	first.Close()
	if err := <-opened; err != nil {
		t.Errorf("after the first build: %v", err)
	}
}

func TestWaitEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Open(ctx, dir, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("Open is %v, want context.Canceled", err)
	}
}

func TestPruneKeepsTheNewest(t *testing.T) {
	c := open(t, t.TempDir())
	for i, part := range []string{"old", "newer", "newest"} {
		if err := c.Add("step", keyOf(part), write("f", part)); err != nil {
			t.Fatal(err)
		}
		dir, _ := c.Find("step", keyOf(part))
		when := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(dir, when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Add("step-test", keyOf("x"), write("f", "x")); err != nil {
		t.Fatal(err)
	}
	if err := c.Prune([]string{"step"}); err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, part := range []string{"old", "newer", "newest"} {
		if _, found := c.Find("step", keyOf(part)); found {
			kept = append(kept, part)
		}
	}
	if !slices.Equal(kept, []string{"newer", "newest"}) {
		t.Errorf("kept %v, want the two newest", kept)
	}
	if _, found := c.Find("step-test", keyOf("x")); !found {
		t.Error("a step whose name starts alike was pruned")
	}
}

func TestKeyFramesItsParts(t *testing.T) {
	one, two := NewKey("s", 1), NewKey("s", 1)
	one.Text("ab", "c")
	two.Text("a", "bc")
	if one.String() == two.String() {
		t.Error("different parts give one key")
	}
	if NewKey("s", 1).String() == NewKey("s", 2).String() {
		t.Error("a revision does not change the key")
	}
}

func TestKeyOfTree(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "f")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	key := func(text string, mode os.FileMode) string {
		t.Helper()
		os.Remove(path)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		k := NewKey("s", 1)
		if err := k.Tree(dir); err != nil {
			t.Fatal(err)
		}
		return k.String()
	}
	plain := key("x", 0o644)
	if key("y", 0o644) == plain || key("x", 0o755) == plain {
		t.Error("content or the right to execute does not change the key")
	}
	if key("x", 0o600) != plain {
		t.Error("a umask changes the key")
	}
}

func TestCloneKeepsContent(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	const size = 1 << 20
	file, err := os.Create(from)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, at := range []int64{0, 300_000, 700_001} {
		if _, err := file.WriteAt([]byte(strings.Repeat("x", 5000)), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Truncate(size); err != nil { // ends in a hole
		t.Fatal(err)
	}
	if err := Clone(from, to); err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile(from)
	got, err := os.ReadFile(to)
	if err != nil || len(got) != size || !bytes.Equal(got, want) {
		t.Errorf("the copy has %d bytes and differs: %v", len(got), err)
	}
	if Clone(from, to) == nil {
		t.Error("an existing file is overwritten")
	}
}
