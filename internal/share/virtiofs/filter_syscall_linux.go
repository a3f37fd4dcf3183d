package virtiofs

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// filterFile returns the filter in a memory file, read from its start.
func filterFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("filter", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make the file server's filter: %w", err)
	}
	f := os.NewFile(uintptr(fd), "filter")
	if _, err := f.Write(filterProgram()); err != nil {
		f.Close()
		return nil, fmt.Errorf("write the file server's filter: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
