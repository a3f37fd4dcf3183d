package qemu

import (
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/jail/bwrap"
	"aibox/test/golden"
)

func TestArgs(t *testing.T) {
	for name, l := range map[string]Line{
		"tcg": {Memory: 2048, CPUs: 2, Kernel: 3, RootDisk: 4, RootPath: rootPath, StateDisk: 5, Shares: 6, Link: 7, Console: 8,
			TSC: 2596140, KernelArgs: []string{"aibox.x=1"}},
		"kvm-least": {KVM: true, TSC: 2596140, Memory: 256, CPUs: 1, Kernel: 3, RootDisk: 4, StateDisk: -1, Shares: -1, Link: 5, Console: 6},
	} {
		t.Run(name, func(t *testing.T) {
			golden.Check(t, filepath.Join("testdata", name+".golden"), strings.Join(Args(l), "\n")+"\n")
		})
	}
}

// A disk that goes with the machine is not flushed to the host's disk.
func TestScratchDiskIsNotFlushed(t *testing.T) {
	for scratch, want := range map[bool]int{true: 1, false: 0} {
		args := strings.Join(Args(Line{StateDisk: 5, Shares: -1, Scratch: scratch}), " ")
		if got := strings.Count(args, "node-name=state-file,filename=/dev/fdset/2,discard=unmap,cache.no-flush=on "); got != want {
			t.Errorf("scratch %v: QEMU gets %s", scratch, args)
		}
	}
}

// TestRootDiskIsReadOnlyInTheSandbox wants QEMU to get the root disk by a
// read-only mount and not as an open file of the user's.
func TestRootDiskIsReadOnlyInTheSandbox(t *testing.T) {
	box, line := bwrap.Sandbox{Program: "/qemu"}, Line{RootDisk: 4, StateDisk: 5, Shares: 6}
	showRootDisk(&box, &line)
	if got := strings.Join(box.Arguments(), " "); !strings.Contains(got, "--ro-bind-fd 4 "+rootPath+" ") {
		t.Errorf("bubblewrap gets %s", got)
	}
	if got := strings.Join(Args(line), " "); strings.Contains(got, "fd=4") || !strings.Contains(got, "filename="+rootPath+",read-only=on") {
		t.Errorf("QEMU gets %s", got)
	}
}
