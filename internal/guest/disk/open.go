package disk

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"aibox/internal/guest/names"
)

// Time limits of the tools. A check of a large damaged disk may take long; the
// user sees the VM starting meanwhile.
const (
	formatTimeout = 2 * time.Minute
	checkTimeout  = 10 * time.Minute
)

// e2fsck's exit code is a set of bits; from this one on damage is left.
const e2fsckLeft = 4

// Device is the state disk as a file.
type Device interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
}

// Tools does the work on the disk.
type Tools struct {
	// Run runs a program and returns its exit code and output.
	Run func(timeout time.Duration, argv ...string) (int, string, error)
	// Mount mounts the disk. It is called again after a repair.
	Mount func() error
	// Log takes one line about what was done to the disk.
	Log func(line string)
	// Scratch formats a disk that nobody reads after this boot: without a journal,
	// whose commits hold up who writes on a busy host.
	Scratch bool
}

// ErrForeign says that the disk has data but no ext4 file system.
var ErrForeign = errors.New("the state disk has data but no ext4 file system, so it is left as it is")

// Open formats the disk at path if it was never used, checks it if it asks for
// it, and mounts it. It reports whether the file system is new. A foreign disk
// is ErrForeign, and nothing is written to it.
func Open(device Device, size int64, path string, tools Tools) (fresh bool, err error) {
	found, err := Inspect(device, size)
	if err != nil {
		return false, err
	}
	switch found.Verdict {
	case Foreign:
		return false, ErrForeign
	case Empty, Interrupted:
		if err := format(device, size, path, tools); err != nil {
			return false, err
		}
		return true, tools.Mount()
	}
	if found.Damaged {
		if err := check(path, tools); err != nil {
			return false, err
		}
	}
	err = tools.Mount()
	if err == nil {
		return false, nil
	}
	tools.Log(fmt.Sprintf("state disk does not mount, checking it: %v", err))
	if err := check(path, tools); err != nil {
		return false, err
	}
	return false, tools.Mount()
}

func format(device Device, size int64, path string, tools Tools) error {
	at := size - markRoom
	if err := writeSynced(device, []byte(mark), at); err != nil {
		return fmt.Errorf("mark state disk: %w", err)
	}
	code, out, err := tools.Run(formatTimeout, formatArgs(path, size, tools.Scratch)...)
	if err != nil {
		return fmt.Errorf("format state disk: %w", err)
	}
	if code != 0 {
		return fmt.Errorf("format state disk: mke2fs: exit status %d: %s", code, lastLine(out))
	}
	if err := writeSynced(device, make([]byte, len(mark)), at); err != nil {
		return fmt.Errorf("unmark state disk: %w", err)
	}
	return nil
}

// formatArgs leaves tables and journal unwritten, so that the file on the host
// stays sparse, and does without the orphan file, whose 512 blocks each mount
// would read one by one.
func formatArgs(path string, size int64, scratch bool) []string {
	features := "^orphan_file"
	if scratch {
		features += ",^has_journal"
	}
	blocks := strconv.FormatInt((size-markRoom)/1024, 10) + "k"
	return []string{names.Mke2fs, "-q", "-F", "-t", "ext4", "-b", "4096", "-m", "0", "-L", "aibox-state",
		"-O", features, "-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard", path, blocks}
}

// check repairs what it can: first what is safe, then, since what is on the
// disk are caches and installed tools, whatever brings it back.
func check(path string, tools Tools) error {
	for _, mode := range []string{"-p", "-y"} {
		code, out, err := tools.Run(checkTimeout, names.E2fsck, "-f", mode, path)
		if err != nil {
			return fmt.Errorf("check state disk: %w", err)
		}
		tools.Log(fmt.Sprintf("e2fsck %s of the state disk: exit status %d: %s", mode, code, lastLine(out)))
		if code < e2fsckLeft {
			return nil
		}
	}
	return errors.New("check state disk: e2fsck could not repair it")
}

func writeSynced(device Device, b []byte, at int64) error {
	if _, err := device.WriteAt(b, at); err != nil {
		return err
	}
	return device.Sync()
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}
