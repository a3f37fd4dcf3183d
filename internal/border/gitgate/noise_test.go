package gitgate

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"
)

// writeNoise writes a file that does not compress.
func writeNoise(t testing.TB, path string, size int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.CopyN(f, rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%032d", rand.Int64())))), size)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
