//go:build vm

package vm

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/internal/run"
)

// imageWith makes an image of the real one's files, each changed by a function
// that gets a file of its own; nil leaves the file out.
func (b *box) imageWith(kernel, disk func(*os.File)) string {
	b.t.Helper()
	dir := b.t.TempDir()
	for name, change := range map[string]func(*os.File){"vmlinuz": kernel, "os.ext4": disk} {
		if change == nil {
			continue
		}
		f, err := os.Create(filepath.Join(dir, name))
		b.must(err)
		change(f)
		b.must(f.Close())
	}
	return dir
}

// copied returns a change that copies at most n bytes of the real file.
func (b *box) copied(name string, n int64) func(*os.File) {
	return func(to *os.File) {
		from, err := os.Open(filepath.Join(b.image, name))
		b.must(err)
		defer from.Close()
		if _, err := io.CopyN(to, from, n); err != io.EOF {
			b.must(err)
		}
	}
}

// kernel is a copy of the real kernel whose code, behind the header that is
// checked, is overwritten.
func (b *box) kernel(code string) func(*os.File) {
	return func(to *os.File) {
		b.copied("vmlinuz", 1<<30)(to)
		head := make([]byte, 0x200)
		_, err := to.ReadAt(head, 0)
		b.must(err)
		info, err := to.Stat()
		b.must(err)
		at := (int64(head[0x1f1]) + 1) * 512
		_, err = to.WriteAt(bytes.Repeat([]byte(code), int(info.Size()-at)/len(code)), at)
		b.must(err)
	}
}

// sparse is a disk of zeros but for its superblock.
func sparse(size int64, superblock string) func(*os.File) {
	return func(f *os.File) {
		_ = f.Truncate(size)
		_, _ = f.WriteAt([]byte(superblock), 1024)
	}
}

// A superblock that is whole for aibox, 1024 blocks of 1 KiB, but no file system.
var emptySuperblock = "\x00\x00\x00\x00\x00\x04\x00\x00" + strings.Repeat("\x00", 0x30) + "\x53\xef" + strings.Repeat("\x00", 0x400-0x3a)

func TestBadImages(t *testing.T) {
	const rebuild = "make image"
	for name, c := range map[string]struct {
		kernel, disk func(b *box) func(*os.File)
		want         want
	}{
		"no kernel": {nil, whole("os.ext4"), want{2, "no vmlinuz in it", "vmlinuz and os.ext4"}},
		"no disk":   {whole("vmlinuz"), nil, want{4, "the image has no ", rebuild}},
		"an empty kernel": {func(*box) func(*os.File) { return func(*os.File) {} }, nil,
			want{4, "vmlinuz cannot be used: it is cut off after 0 bytes", rebuild}},
		"a truncated kernel": {func(b *box) func(*os.File) { return b.copied("vmlinuz", 3e6) }, nil,
			want{4, "vmlinuz cannot be used: it is cut off after 3000000 of ", rebuild}},
		"a text as kernel": {func(b *box) func(*os.File) {
			return func(f *os.File) { _, _ = f.WriteString(strings.Repeat("no kernel\n", 1000)) }
		}, nil, want{4, "vmlinuz cannot be used: it is no Linux kernel for amd64", rebuild}},
		"a truncated disk": {whole("vmlinuz"), func(b *box) func(*os.File) { return b.copied("os.ext4", 1e6) },
			want{4, "os.ext4 cannot be used: it is cut off after 1000000 of ", rebuild}},
		"zeros as disk": {whole("vmlinuz"), func(*box) func(*os.File) { return sparse(1<<20, "") },
			want{4, "os.ext4 cannot be used: it has no ext4 file system", rebuild}},
		"a kernel that crashes at once": {func(b *box) func(*os.File) { return b.kernel("\x0f\x0b") }, whole("os.ext4"),
			want{1, "the VM ended before it had booted, and its console is empty", rebuild}},
		"a disk without a file system": {whole("vmlinuz"), func(*box) func(*os.File) { return sparse(1<<20, emptySuperblock) },
			want{1, "the VM gave up: Kernel panic - not syncing: VFS: Unable to mount root fs", "console.log"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newUser(t)
			make := func(f func(*box) func(*os.File)) func(*os.File) {
				if f == nil {
					return nil
				}
				return f(b)
			}
			b.refuses(c.want, "--image", b.imageWith(make(c.kernel), make(c.disk)))
		})
	}
}

// whole returns the real file by a link, which is cheaper than a copy.
func whole(name string) func(*box) func(*os.File) {
	return func(b *box) func(*os.File) {
		return func(f *os.File) {
			b.must(os.Remove(f.Name()))
			b.must(os.Symlink(filepath.Join(b.image, name), f.Name()))
		}
	}
}

func TestImageWithoutInit(t *testing.T) {
	b := newUser(t)
	dir := b.imageWith(whole("vmlinuz")(b), nil)
	tool(t, "mke2fs", "-q", "-t", "ext4", filepath.Join(dir, "os.ext4"), "4M")
	b.refuses(want{1, "the VM gave up: Kernel panic - not syncing: Requested init /sbin/aibox-init failed", "console.log"}, "--image", dir)
}

func TestKernelThatHangs(t *testing.T) {
	b := newUser(t)
	b.image = b.imageWith(b.kernel("\xeb\xfe"), whole("os.ext4")(b))
	s := b.start("true", func(r *run.Request) { r.TestOnlyBootTimeout = 3 * time.Second })
	_, code := s.wait()
	want{1, "the VM did not boot within 3s, and its console is empty", "make image"}.check(t, s.stderr.String(), code)
	noneLeft(t)
}

func TestInitThatHangs(t *testing.T) {
	b := newUser(t)
	b.image = b.imageWith(whole("vmlinuz")(b), nil)
	root := t.TempDir()
	b.must(os.Mkdir(filepath.Join(root, "dev"), 0o755))
	b.must(os.Mkdir(filepath.Join(root, "sbin"), 0o755))
	b.must(os.WriteFile(filepath.Join(root, "sbin", "aibox-init"), waiter("I wait \x1b[31mfor nobody\n"), 0o755))
	disk := filepath.Join(b.image, "os.ext4")
	tool(t, "mke2fs", "-q", "-t", "ext4", "-d", root, disk, "4M")
	tool(t, "debugfs", "-w", "-R", "mknod dev/console c 5 1", disk)
	s := b.start("true", func(r *run.Request) { r.TestOnlyBootTimeout = 8 * time.Second })
	_, code := s.wait()
	want{1, "the VM did not boot within 8s; the last line of its console: I wait ", "console.log"}.check(t, s.stderr.String(), code)
	if strings.Contains(s.stderr.String(), "\x1b") {
		t.Error("the console's control characters reach the terminal")
	}
	noneLeft(t)
}

// waiter is a program for Linux on amd64 that prints a text and waits for ever.
func waiter(text string) []byte {
	const start, head = 0x400000, 64 + 56
	code := append([]byte{0xb8, 1, 0, 0, 0, 0xbf, 1, 0, 0, 0, // write(1,
		0x48, 0x8d, 0x35, 16, 0, 0, 0, 0xba, byte(len(text)), 0, 0, 0, 0x0f, 0x05, // text, len(text))
		0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7}, text...) // pause() again and again
	var program bytes.Buffer
	size := uint64(head + len(code))
	for _, part := range []any{
		elf.Header64{
			Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
			Entry: start + head, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
		},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: start, Filesz: size, Memsz: size, Align: 4096},
		code,
	} {
		_ = binary.Write(&program, binary.LittleEndian, part) // never fails on a buffer
	}
	return program.Bytes()
}
