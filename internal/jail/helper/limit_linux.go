package helper

import (
	"cmp"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// selfPath is this very program, also when its file was replaced or removed.
const selfPath = "/proc/self/exe"

// Limits of a helper's own resources.
const (
	maxCPU    = 10 // seconds
	maxMemory = 256 << 20
	maxOpen   = 64
)

// limit bounds what the process may use from here on.
func limit(role Role) error {
	used, err := dataInUse()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{"processor time", unix.RLIMIT_CPU, cmp.Or(role.CPU, maxCPU)},
		{"memory", unix.RLIMIT_DATA, used + cmp.Or(role.Memory, maxMemory)},
		{"file size", unix.RLIMIT_FSIZE, role.FileSize},
		{"open files", unix.RLIMIT_NOFILE, cmp.Or(role.Open, maxOpen)},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}

// dataInUse is what counts against the memory limit already: the Go runtime's
// own reserve, whose size is not ours to know.
func dataInUse() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var size, resident, shared, code, lib, data uint64
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared, &code, &lib, &data); err != nil {
		return 0, fmt.Errorf("read /proc/self/statm: %w", err)
	}
	return data * uint64(os.Getpagesize()), nil
}
