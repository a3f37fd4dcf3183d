//go:build !linux

package boot

import "errors"

// Run fails: the VM runs Linux.
func Run() error { return errors.New("init runs on Linux only") }
