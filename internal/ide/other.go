//go:build !linux

package ide

import (
	"fmt"
	"os"
	"runtime"
)

// NoLinks returns a check that refuses every path: links are not looked for here yet.
func NoLinks(*os.File) func(rel string) error {
	return func(string) error { return fmt.Errorf("not yet on %s", runtime.GOOS) }
}

// alive finds no IDE where NoLinks lets no file pass.
func alive(int) bool { return false }
