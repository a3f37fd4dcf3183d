package proclist

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	for stat, want := range map[string]struct {
		Process
		alive bool
	}{
		"12 (a) b) S 7 1 1":     {Process{12, 7, "a) b"}, true},
		"12 (qemu-system) Z 7 ": {},
		"12 (cut":               {},
		"":                      {},
		"12 (x) S":              {},
	} {
		if p, alive := parse([]byte(stat)); p != want.Process || alive != want.alive {
			t.Errorf("parse(%q) = %v, %v", stat, p, alive)
		}
	}
}

func TestBelow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("found " + runtime.GOOS + ", wanted Linux")
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	below := Below(t, os.Getpid())
	child := slices.IndexFunc(below, func(p Process) bool { return p.PID == cmd.Process.Pid })
	if child < 0 || below[child].Parent != os.Getpid() || below[0].PID != os.Getpid() {
		t.Fatalf("below this process: %v", below)
	}
	below[child].Kill()
	_ = cmd.Wait()
	if PeakMemory(os.Getpid()) < 1<<20 || PeakMemory(cmd.Process.Pid) != 0 {
		t.Error("the memory is wrong")
	}
}
