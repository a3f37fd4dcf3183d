// Package room tells whether the disk below a folder has room left. A confined
// process may not ask the file system, so it is tried: by writing to a file that
// has no name and goes when the process does.
package room

import (
	"crypto/rand"
	"errors"
	"os"
	"syscall"

	"aibox/internal/fault"
)

// least is what must be free, in bytes. It is not enough for work in the VM, only
// to tell a full disk from one that is not.
const least = 1 << 20

// Probe is an open file on the disk.
type Probe struct {
	file *os.File
	text []byte // of random bytes, since zeros take no room on some file systems
}

// Open checks that there is room now. A full disk is an error of kind
// fault.Machine.
func Open(dir string) (*Probe, error) {
	f, err := os.CreateTemp(dir, ".room-*")
	if err != nil {
		return nil, failed(dir, err)
	}
	_ = os.Remove(f.Name()) // where open files cannot be removed, Close does it
	p := &Probe{file: f, text: make([]byte, least)}
	_, _ = rand.Read(p.text) // never fails
	if err := p.try(); err != nil {
		_ = f.Close()
		return nil, failed(dir, err)
	}
	return p, nil
}

func failed(dir string, err error) error {
	hint := ""
	if IsFull(err) {
		hint = Hint(dir)
	}
	if pe := (*os.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err // the file's name tells nothing
	}
	return fault.New(fault.Machine, hint, "cannot write in %q: %w", dir, err)
}

// Hint is what to do about a full disk.
func Hint(dir string) string { return "free some space: df -h " + fault.ShellQuote(dir) }

// IsFull tells whether an error means that the disk, or the user's part of it, is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// try takes the least room and gives it back.
func (p *Probe) try() error {
	_, err := p.file.WriteAt(p.text, 0)
	return errors.Join(err, p.file.Truncate(0))
}

// Close tells whether the disk is full now, and closes the file.
func (p *Probe) Close() (full bool) {
	full = IsFull(p.try())
	_ = p.file.Close()
	_ = os.Remove(p.file.Name())
	return full
}
