package rootdisk

import (
	"fmt"
	"strings"
)

const (
	// blockSize is the file system's; a page, so that nothing is read twice.
	blockSize = 4096

	// inodeSize holds times and short attributes.
	inodeSize = 256

	// spareBlocks is room for the init and the test helper: 64 MiB, which cost
	// nothing on disk while they are empty.
	spareBlocks = 64 << 20 / blockSize

	// spareInodes is room for files that the disk step adds.
	spareInodes = 64

	// diskID is the file system's fixed identifier; with it equal inputs give
	// equal bytes, and nothing looks the disk up by it.
	diskID = "a1b0c5d2-0000-4000-8000-000000000001"
)

// MkfsArgs is the command that makes disk from tree: no journal, nothing
// reserved and no room to grow, since the disk is only ever read.
func MkfsArgs(tree, disk string, content *Content) []string {
	inodes := content.inodes + content.inodes/20 + spareInodes
	tables := inodes * inodeSize / blockSize
	blocks := content.blocks + content.blocks/50 + tables + spareBlocks
	return []string{"mke2fs", "-q", "-t", "ext4", "-d", tree, "-L", "aibox",
		"-b", fmt.Sprint(blockSize), "-I", fmt.Sprint(inodeSize), "-N", fmt.Sprint(inodes), "-m", "0",
		"-O", "^has_journal,^resize_inode", "-U", diskID,
		"-E", "hash_seed=" + diskID + ",lazy_itable_init=0,root_owner=0:0,nodiscard",
		disk, fmt.Sprint(blocks)}
}

// InstallScript makes debugfs write the init, and the helper of the test image,
// from its current folder.
func InstallScript(test bool, epoch int64) string {
	var b strings.Builder
	write := func(from, to string, mode int) {
		fmt.Fprintf(&b, "write %s %s\n", from, to)
		for _, field := range []string{fmt.Sprintf("mode 0%o", mode), "uid 0", "gid 0",
			fmt.Sprintf("mtime @%d", epoch), fmt.Sprintf("atime @%d", epoch), fmt.Sprintf("ctime @%d", epoch), fmt.Sprintf("crtime @%d", epoch)} {
			fmt.Fprintf(&b, "set_inode_field %s %s\n", to, field)
		}
	}
	write(InitProgram, Init, 0o100755)
	if test {
		fmt.Fprintf(&b, "mkdir %s\n", TestDir)
		write(TestRootProgram, TestRoot, 0o104755)
	}
	return b.String()
}
