package wire

import (
	"archive/tar"
	"bytes"
	"io"
	"testing"
)

func TestResultHeaderIsTar(t *testing.T) {
	var b bytes.Buffer
	for name, size := range map[string]int64{TranscriptFile: 3, ResultFile: ResultBlock} {
		h := ResultHeader(name, size)
		b.Reset()
		b.Write(h[:])
		b.Write(bytes.Repeat([]byte("x"), int(size)))
		b.Write(make([]byte, ResultPadding(size)+2*ResultBlock))
		r := tar.NewReader(&b)
		got, err := r.Next()
		if err != nil || got.Name != name || got.Size != size || got.Typeflag != tar.TypeReg {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		if n, err := io.Copy(io.Discard, r); n != size || err != nil {
			t.Errorf("%s: %d bytes, %v, want %d", name, n, err, size)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: %v after it, want the end", name, err)
		}
	}
	if n := len(ResultHeader(ChangesFile, MaxChanges)); n != ResultBlock {
		t.Errorf("the header of the largest bundle has %d bytes, want %d", n, ResultBlock)
	}
}
