package helper

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArgsComeBack(t *testing.T) {
	want := Line{Socket: 4, Lax: true, Modes: true, Folders: []Place{{Name: "project", Path: "/shares/a: b"}, {Name: "m0", Path: "/x", ReadOnly: true}}}
	got, err := ParseArgs(Args(want)[1:])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range [][]string{nil, {"4", "true"}, {"x", "true", "true"}, {"4", "true", "true", "a:b"}, {"4", "true", "true", "a:wr:/x"}} {
		if _, err := ParseArgs(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}
