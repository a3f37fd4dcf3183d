package image

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"aibox/internal/fault"
)

// maxKernel bounds the memory that a kernel file can take.
const maxKernel = 256 << 20

// openKernel copies the kernel into sealed memory and checks the copy.
func openKernel(path, digest string) (*os.File, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > maxKernel {
		return nil, damaged(path, "%d bytes are more than any kernel has", size)
	}
	sealed, err := seal("kernel", io.LimitReader(f, maxKernel))
	if err != nil {
		return nil, fmt.Errorf("copy the kernel %s into memory: %w", path, err)
	}
	if err := checkKernel(sealed, path, digest); err != nil {
		sealed.Close()
		return nil, err
	}
	return sealed, nil
}

func checkKernel(sealed *os.File, path, digest string) error {
	st, err := sealed.Stat()
	if err != nil {
		return err
	}
	if digest != "" {
		sum := sha256.New()
		if _, err := io.Copy(sum, io.NewSectionReader(sealed, 0, st.Size())); err != nil {
			return err
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
			return fault.New(fault.Refused, "remove the folder and install aibox again",
				"the kernel %s is not the one this release was built with: its SHA-256 is %s, not %s", path, got, digest)
		}
	}
	if err := kernelComplete(sealed, st.Size()); err != nil {
		return damaged(path, "%w", err)
	}
	return nil
}

// kernelComplete tells whether r holds a whole Linux kernel for amd64: a bzImage
// or an ELF file. It reads only what tells so.
func kernelComplete(r io.ReaderAt, size int64) error {
	head := make([]byte, 0x264)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return elfComplete(r, size)
	case len(head) == 0x264 && string(head[0x202:0x206]) == "HdrS" && head[0x1fe] == 0x55 && head[0x1ff] == 0xaa:
		return bzImageComplete(head, size)
	case size < int64(cap(head)):
		return fmt.Errorf("it is cut off after %d bytes", size)
	}
	return errors.New("it is no Linux kernel for amd64")
}

// bzImageComplete reads the setup header: a number of 512-byte sectors, and the
// size of the protected-mode code in units of 16 bytes. See the kernel's
// Documentation/arch/x86/boot.rst.
func bzImageComplete(head []byte, size int64) error {
	sectors := int64(head[0x1f1])
	if sectors == 0 {
		sectors = 4
	}
	want := (sectors+1)*512 + int64(binary.LittleEndian.Uint32(head[0x1f4:]))*16
	if size < want {
		return fmt.Errorf("it is cut off after %d of %d bytes", size, want)
	}
	return nil
}

func elfComplete(r io.ReaderAt, size int64) error {
	f, err := elf.NewFile(r)
	if err != nil {
		return fmt.Errorf("it is cut off or damaged: %w", err)
	}
	if f.Machine != elf.EM_X86_64 {
		return fmt.Errorf("it is for another machine: %s", f.Machine)
	}
	for _, p := range f.Progs {
		if p.Filesz > uint64(size) || p.Off > uint64(size)-p.Filesz {
			return fmt.Errorf("it is cut off after %d bytes", size)
		}
	}
	return nil
}
