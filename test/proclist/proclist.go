// Package proclist lists the user's processes on Linux, for tests of what a
// program started and what it left.
package proclist

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Process is one that was alive when it was listed.
type Process struct {
	PID, Parent int
	Name        string // at most 15 bytes, as the kernel keeps it
}

// Kill ends it at once, if it is still there.
func (p Process) Kill() {
	if found, err := os.FindProcess(p.PID); err == nil {
		_ = found.Kill()
	}
}

// All lists the living processes of this user.
func All(t testing.TB) (all []Process) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		// The folder of a process that cannot be dumped is root's: its own word counts.
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if err != nil || !strings.Contains(string(status), fmt.Sprintf("\nUid:\t%d\t", os.Getuid())) {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		if p, alive := parse(stat); alive {
			all = append(all, p)
		}
	}
	return all
}

// parse reads /proc/PID/stat, as proc(5) has it.
func parse(stat []byte) (p Process, alive bool) {
	number, rest, found := bytes.Cut(stat, []byte(" ("))
	shut := bytes.LastIndexByte(rest, ')')
	if !found || shut < 0 {
		return Process{}, false
	}
	fields := strings.Fields(string(rest[shut+1:]))
	if len(fields) < 2 || fields[0] == "Z" {
		return Process{}, false
	}
	p.Name = string(rest[:shut])
	p.PID, _ = strconv.Atoi(string(number))
	p.Parent, _ = strconv.Atoi(fields[1])
	return p, true
}

// Below lists a process and all below it.
func Below(t testing.TB, ancestor int) (found []Process) {
	t.Helper()
	all, known := All(t), map[int]bool{}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if !known[p.PID] && (p.PID == ancestor || known[p.Parent]) {
				known[p.PID], grew = true, true
				found = append(found, p)
			}
		}
	}
	return found
}

// PeakMemory is the largest resident size so far of a process, in bytes; 0 for
// one that is gone.
func PeakMemory(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			var kib int64
			_, _ = fmt.Sscan(rest, &kib)
			return kib << 10
		}
	}
	return 0
}
