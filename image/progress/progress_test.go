package progress

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestPlainLinesWithoutATerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	r := New(out)
	r.Begin("the kernel", 2, 7, 100)
	r.Progress()
	r.Note("a note")
	r.End("the kernel", 1500*time.Millisecond, nil)
	r.Begin("the disk", 3, 7, 0)
	r.End("the disk", time.Second, errors.New("failed"))
	const want = "image: 2/7 the kernel\nimage: a note\nimage: the kernel: done in 1.5 s\nimage: 3/7 the disk\n"
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("output is %q, %v; want %q", text, err, want)
	}
}
