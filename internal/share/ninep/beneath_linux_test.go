package ninep

import (
	"os"
	"testing"

	"aibox/internal/share/ninep/beneath"
	"aibox/internal/share/ninep/tree"
)

func beneathRoot(t testing.TB, dir string) tree.Node {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := beneath.New(&beneath.Space{}, f)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
