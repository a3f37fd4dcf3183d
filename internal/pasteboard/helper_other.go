//go:build !linux

package pasteboard

import (
	"fmt"
	"os"
	"runtime"
)

const selfPath = ""

// Main fails: the helper does not exist here yet.
func Main() int {
	fmt.Fprintln(os.Stderr, "the clipboard is not yet read on", runtime.GOOS)
	return 1
}
