//go:build !linux || !amd64

package qemu

func hostTSC() int { return 0 }
