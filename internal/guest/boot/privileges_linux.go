package boot

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// The limits of open files, as on other systems: programs that can use more
// raise it themselves, and those that call select(2) must not get more.
const (
	softFiles = 1024
	hardFiles = 524288
)

// limitPrivileges sets what every session inherits. No program can give back a
// privilege outside this set, not even one that is set-user-id root; the two
// that are left are the mappers'. User namespaces have sets of their own.
func limitPrivileges() error {
	limit := unix.Rlimit{Cur: softFiles, Max: hardFiles}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("limit open files: %w", err)
	}
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		if c == unix.CAP_SETUID || c == unix.CAP_SETGID {
			continue
		}
		if err := dropBounding(c); err != nil {
			return fmt.Errorf("drop privilege %d: %w", c, err)
		}
	}
	return nil
}
