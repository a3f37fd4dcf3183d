package disk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// Verdict is what a state disk holds.
type Verdict int

// The verdicts of Inspect.
const (
	Empty       Verdict = iota // never written: format
	Interrupted                // formatting did not end: format again
	Ext4                       // mount
	Foreign                    // data of someone else: never touch
)

// Finding is a verdict and what the file system says of itself.
type Finding struct {
	Verdict Verdict
	// Damaged tells that an ext4 file system asks for a check.
	Damaged bool
}

const (
	mark     = "aibox: this disk is being formatted\n"
	markRoom = 64 << 10 // bytes at the end that are not the file system's
	minSize  = 16 << 20 // smaller is no state disk

	sampleSize = 64 << 10
	headSize   = 4 << 20
	tailSize   = 1 << 20
	spread     = 64 // samples over the whole disk
	// groupSize is an ext4 block group with blocks of 4 KiB; copies of the
	// superblock start some of the groups.
	groupSize = 128 << 20
	maxGroups = 64
)

// Inspect reads the head, the end and samples of a disk of size bytes.
func Inspect(disk io.ReaderAt, size int64) (Finding, error) {
	if size < minSize {
		return Finding{}, fmt.Errorf("state disk has %d bytes, at least %d are needed", size, minSize)
	}
	end := make([]byte, len(mark))
	if _, err := disk.ReadAt(end, size-markRoom); err != nil {
		return Finding{}, fmt.Errorf("read state disk: %w", err)
	}
	// The mark goes first: while it is there, no file system was ever mounted,
	// whatever the head looks like.
	if string(end) == mark {
		return Finding{Verdict: Interrupted}, nil
	}
	super := make([]byte, superSize)
	if _, err := disk.ReadAt(super, superOffset); err != nil {
		return Finding{}, fmt.Errorf("read state disk: %w", err)
	}
	if found, ok := parseSuper(super); ok {
		return found, nil
	}
	zero, err := samplesAreZero(disk, size)
	if err != nil {
		return Finding{}, fmt.Errorf("read state disk: %w", err)
	}
	if !zero {
		return Finding{Verdict: Foreign}, nil
	}
	return Finding{Verdict: Empty}, nil
}

// The ext4 superblock: where it is and what is read of it.
const (
	superOffset = 1024
	superSize   = 1024

	superLogBlock = 24
	superMagicAt  = 56
	superStateAt  = 58
	superMagic    = 0xEF53

	stateErrors = 2 // set by the kernel when it met damage
)

func parseSuper(b []byte) (Finding, bool) {
	if binary.LittleEndian.Uint16(b[superMagicAt:]) != superMagic ||
		binary.LittleEndian.Uint32(b[superLogBlock:]) > 6 {
		return Finding{}, false
	}
	state := binary.LittleEndian.Uint16(b[superStateAt:])
	return Finding{Verdict: Ext4, Damaged: state&stateErrors != 0}, true
}

type span struct{ offset, length int64 }

// samples lists what is read to call a disk empty, about 13 MiB.
func samples(size int64) []span {
	list := []span{{0, min(headSize, size)}, {size - tailSize, tailSize}}
	at := func(offset int64) {
		if offset+sampleSize <= size {
			list = append(list, span{offset, sampleSize})
		}
	}
	for i := int64(1); i <= maxGroups; i++ {
		at(i * groupSize)
	}
	for i := int64(1); i < spread; i++ {
		at(size / spread * i &^ (sampleSize - 1))
	}
	return list
}

func samplesAreZero(disk io.ReaderAt, size int64) (bool, error) {
	buf := make([]byte, tailSize)
	zeros := make([]byte, tailSize)
	for _, s := range samples(size) {
		for s.length > 0 {
			n := min(s.length, int64(len(buf)))
			if _, err := disk.ReadAt(buf[:n], s.offset); err != nil {
				return false, err
			}
			if !bytes.Equal(buf[:n], zeros[:n]) {
				return false, nil
			}
			s.offset, s.length = s.offset+n, s.length-n
		}
	}
	return true, nil
}
