package image

import (
	"encoding/binary"
	"fmt"
	"os"
)

// ext4's superblock: 1024 bytes into the disk.
const (
	superblockAt = 1024
	superblock   = 1024
	ext4Magic    = 0xef53
)

// openRootDisk opens the root disk and checks that all of its file system is there.
func openRootDisk(path string) (*os.File, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	if err := diskComplete(f, size); err != nil {
		f.Close()
		return nil, damaged(path, "%w", err)
	}
	return f, nil
}

func diskComplete(f *os.File, size int64) error {
	if size < superblockAt+superblock {
		return fmt.Errorf("it is cut off after %d bytes", size)
	}
	sb := make([]byte, superblock)
	if _, err := f.ReadAt(sb, superblockAt); err != nil {
		return err
	}
	want, err := ext4Size(sb)
	if err != nil {
		return err
	}
	if uint64(size) < want {
		return fmt.Errorf("it is cut off after %d of %d bytes", size, want)
	}
	return nil
}

// ext4Size returns the size in bytes of the file system that a superblock describes.
func ext4Size(sb []byte) (uint64, error) {
	le := binary.LittleEndian
	if le.Uint16(sb[0x38:]) != ext4Magic {
		return 0, fmt.Errorf("it has no ext4 file system")
	}
	blocks := uint64(le.Uint32(sb[0x4:]))
	const has64bit = 0x80
	if le.Uint32(sb[0x60:])&has64bit != 0 {
		blocks |= uint64(le.Uint32(sb[0x150:])) << 32
	}
	shift := le.Uint32(sb[0x18:])
	if shift > 6 || blocks > 1<<48 {
		return 0, fmt.Errorf("its ext4 file system is damaged")
	}
	return blocks << (10 + shift), nil
}
