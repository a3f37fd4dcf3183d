// Package golden compares what a test got with a file of the repository.
package golden

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Check fails the test where got is not what the file holds. UPDATE_GOLDEN=1 in
// the environment writes the file anew.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
