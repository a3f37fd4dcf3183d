package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"aibox/image/tool"
	"aibox/internal/fault"
)

func TestDefaultFolders(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "c"))
	for _, c := range []struct {
		args []string
		out  string
	}{
		{nil, filepath.Join(home, ".aibox", "image", "dev")},
		{[]string{"--test"}, filepath.Join(home, "c", "aibox", "test-image")},
		{[]string{"--test", "--out", "/x"}, "/x"},
	} {
		o, _, err := parse(c.args, io.Discard)
		if err != nil || o.Out != c.out || o.Cache != filepath.Join(home, "c", "aibox", "build") {
			t.Errorf("%q: out %s, cache %s, %v; want %s", c.args, o.Out, o.Cache, err, c.out)
		}
	}
	if _, _, err := parse([]string{"extra"}, io.Discard); err == nil {
		t.Error("an argument that nothing reads is taken")
	}
}

func TestExplain(t *testing.T) {
	var b bytes.Buffer
	explain(&b, fault.New(fault.Machine, "free space", "build the disk: %w",
		&tool.Error{Program: "mke2fs", Tail: []string{"one", "two"}, Log: "/c/log", Err: errors.New("exit status 1")}))
	const want = "image: build the disk: mke2fs: exit status 1\n  one\n  two\nfull log: /c/log\nhint: free space\n"
	if b.String() != want {
		t.Errorf("explained as %q, want %q", b.String(), want)
	}
}
