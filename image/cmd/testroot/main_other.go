//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "testroot: runs in the guest only")
	os.Exit(1)
}
