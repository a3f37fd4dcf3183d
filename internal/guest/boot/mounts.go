package boot

import "fmt"

// mountFlag is a restriction of a mount.
type mountFlag uint

const (
	noSuid mountFlag = 1 << iota
	noDev
	noExec
)

// mountPoint is one file system of the kernel or in RAM.
type mountPoint struct {
	target, kind, options string
	flags                 mountFlag
	must                  bool
}

// ttyGroup is Debian's group tty, which owns terminals.
const ttyGroup = 5

// kernelMounts are those every Linux system has, in order. What users can fill
// is bounded to a part of the memory that leaves room to clean up again.
func kernelMounts(memory uint64) []mountPoint {
	kib := func(part uint64) uint64 { return memory / 1024 * part / 100 }
	return []mountPoint{
		{"/proc", "proc", "", noSuid | noDev | noExec, true},
		{"/sys", "sysfs", "", noSuid | noDev | noExec, true},
		{"/dev", "devtmpfs", "mode=0755", noSuid | noExec, true},
		{"/dev/pts", "devpts", fmt.Sprintf("mode=0620,ptmxmode=0666,gid=%d", ttyGroup), noSuid | noExec, true},
		{"/dev/shm", "tmpfs", fmt.Sprintf("mode=1777,size=%dk", kib(25)), noSuid | noDev, true},
		{"/dev/mqueue", "mqueue", "", noSuid | noDev | noExec, false},
		{"/run", "tmpfs", "mode=0755,size=16m", noSuid | noDev, true},
		{"/tmp", "tmpfs", fmt.Sprintf("mode=1777,size=%dk", kib(50)), noSuid | noDev, true},
		{"/sys/fs/cgroup", "cgroup2", "nsdelegate", noSuid | noDev | noExec, true},
	}
}

// runtimeOptions bound XDG_RUNTIME_DIR.
func runtimeOptions(memory uint64, uid, gid int) string {
	return fmt.Sprintf("mode=0700,uid=%d,gid=%d,size=%dk", uid, gid, memory/1024/10)
}
