//go:build !linux

package cli

// kernelRelease is empty: aibox makes no demands on these kernels.
func kernelRelease() string { return "" }
