package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/fault"

	"golang.org/x/sys/unix"
)

// bzImage makes a file of the form of a kernel with one setup sector.
func bzImage(body int) []byte {
	b := make([]byte, 1024+body)
	b[0x1f1], b[0x1fe], b[0x1ff] = 1, 0x55, 0xaa
	binary.LittleEndian.PutUint32(b[0x1f4:], uint32(body/16))
	copy(b[0x202:], "HdrS")
	return b
}

// ext4 makes a disk of n 4 KiB blocks that has nothing but a superblock.
func ext4(n uint32) []byte {
	b := make([]byte, n*4096)
	sb := b[1024:]
	binary.LittleEndian.PutUint32(sb[0x4:], n)
	binary.LittleEndian.PutUint32(sb[0x18:], 2)
	binary.LittleEndian.PutUint16(sb[0x38:], 0xef53)
	return b
}

func folder(t *testing.T, kernel, disk []byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range map[string][]byte{KernelName: kernel, RootDiskName: disk} {
		if b == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOpenSealsTheCheckedBytes(t *testing.T) {
	kernel := bzImage(4096)
	sum := sha256.Sum256(kernel)
	dir := folder(t, kernel, ext4(8))
	img, err := Open(dir, Digests{Kernel: hex.EncodeToString(sum[:])})
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	if !img.Checked {
		t.Error("not marked as checked")
	}
	// A swap after the check changes nothing.
	if err := os.WriteFile(filepath.Join(dir, KernelName), []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(img.Kernel)
	if err != nil || !bytes.Equal(got, kernel) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	if _, err := img.Kernel.WriteAt([]byte("x"), 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("write to the sealed kernel: %v, want EPERM", err)
	}
	if err := img.Kernel.Truncate(0); !errors.Is(err, unix.EPERM) {
		t.Errorf("truncate the sealed kernel: %v, want EPERM", err)
	}
	again, err := os.OpenFile("/proc/self/fd/"+itoa(int(img.Kernel.Fd())), os.O_RDWR, 0)
	if err == nil {
		defer again.Close()
		if _, err := again.Write([]byte("x")); !errors.Is(err, unix.EPERM) {
			t.Errorf("write by a second opening: %v, want EPERM", err)
		}
	}
	if _, err := img.RootDisk.WriteAt([]byte("x"), 0); err == nil {
		t.Error("the root disk can be written")
	}
}

func itoa(n int) string {
	return string(bytes.TrimLeft([]byte{'0' + byte(n/100), '0' + byte(n/10%10), '0' + byte(n%10)}, "0"))
}

func TestOpenRefuses(t *testing.T) {
	kernel, disk := bzImage(4096), ext4(8)
	elf := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 2000)...)
	for name, c := range map[string]struct {
		kernel, disk []byte
		digest       string
		kind         fault.Kind
		part         string
	}{
		"no kernel":        {nil, disk, "", fault.Machine, "the image has no"},
		"no disk":          {kernel, nil, "", fault.Machine, "the image has no"},
		"empty kernel":     {[]byte{}, disk, "", fault.Machine, "cut off after 0 bytes"},
		"garbage kernel":   {bytes.Repeat([]byte("x"), 5000), disk, "", fault.Machine, "no Linux kernel"},
		"truncated kernel": {kernel[:3000], disk, "", fault.Machine, "cut off after 3000 of 5120 bytes"},
		"damaged ELF":      {elf, disk, "", fault.Machine, "cut off or damaged"},
		"other kernel":     {kernel, disk, strings.Repeat("0", 64), fault.Refused, "not the one this release was built with"},
		"empty disk":       {kernel, []byte{}, "", fault.Machine, "cut off after 0 bytes"},
		"garbage disk":     {kernel, bytes.Repeat([]byte("x"), 5000), "", fault.Machine, "no ext4"},
		"truncated disk":   {kernel, disk[:8*4096-1], "", fault.Machine, "cut off after 32767 of 32768 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			img, err := Open(folder(t, c.kernel, c.disk), Digests{Kernel: c.digest})
			if err == nil {
				img.Close()
				t.Fatal("opened")
			}
			if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.part) || fault.HintOf(err) == "" {
				t.Errorf("kind %d, hint %q: %v", fault.KindOf(err), fault.HintOf(err), err)
			}
		})
	}
}

func TestOpenDoesNotWaitForPipes(t *testing.T) {
	dir := folder(t, nil, ext4(8))
	if err := unix.Mkfifo(filepath.Join(dir, KernelName), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Digests{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}

func TestRealKernelIsAccepted(t *testing.T) {
	path := os.Getenv("AIBOX_TEST_KERNEL")
	if path == "" {
		t.Skip("found no AIBOX_TEST_KERNEL, wanted a kernel's path")
	}
	f, err := openKernel(path, "")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func FuzzKernelComplete(f *testing.F) {
	f.Add(bzImage(64))
	f.Add(append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 700)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if kernelComplete(bytes.NewReader(b), int64(len(b))) == nil && len(b) < 64 {
			t.Errorf("%d bytes pass for a kernel", len(b))
		}
	})
}
