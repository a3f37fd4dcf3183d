package cache

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Clone copies from to the new file to: by sharing its blocks where the
// file system can, else without writing its holes, which half a disk image is.
func Clone(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if unix.IoctlFileClone(int(target.Fd()), int(source.Fd())) == nil {
		return nil
	}
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if err := target.Truncate(info.Size()); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	for at := int64(0); at < info.Size(); {
		start, err := unix.Seek(int(source.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) { // only a hole follows
			return nil
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", from, err)
		}
		end, err := unix.Seek(int(source.Fd()), start, unix.SEEK_HOLE)
		if err != nil {
			return fmt.Errorf("copy %s: %w", from, err)
		}
		part := io.NewSectionReader(source, start, end-start)
		if _, err := io.Copy(io.NewOffsetWriter(target, start), part); err != nil {
			return fmt.Errorf("copy %s: %w", from, err)
		}
		at = end
	}
	return nil
}

// Exchange swaps two names at once, so that no moment shows neither.
func Exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
