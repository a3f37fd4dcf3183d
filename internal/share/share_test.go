package share

import (
	"os"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	good := []Folder{{Name: "project", Dir: dir}, {Name: "m0", Dir: dir, ReadOnly: true}}
	if err := Check(good); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "..", "a/b", "A", "a b", "project", strings.Repeat("a", 33)} {
		if err := Check(append(good[:2:2], Folder{Name: name, Dir: dir})); err == nil {
			t.Errorf("name %q passes", name)
		}
	}
	if Check([]Folder{{Name: "x"}}) == nil || Check(make([]Folder, MaxFolders+1)) == nil {
		t.Error("a folder that is not open, or too many, pass")
	}
}
