//go:build hostile

package hostile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

type process struct {
	pid, parent int
	name        string
}

func (p process) kill() { _ = syscall.Kill(p.pid, syscall.SIGKILL) }

// processes lists those of this user that are alive.
func processes(t *testing.T) []process {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var all []process
	for _, dir := range dirs {
		// The folder of a process that cannot be dumped is root's.
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if err != nil || !strings.Contains(string(status), fmt.Sprintf("\nUid:\t%d\t", os.Getuid())) {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		open, shut := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
		fields := strings.Fields(string(stat[shut+1:]))
		if fields[0] == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		parent, _ := strconv.Atoi(fields[1])
		all = append(all, process{pid, parent, string(stat[open+1 : shut])})
	}
	return all
}

// descendants lists a process and all below it.
func descendants(t *testing.T, ancestor int) []process {
	t.Helper()
	all := processes(t)
	below := map[int]bool{ancestor: true}
	var found []process
	for _, p := range all {
		if p.pid == ancestor {
			found = append(found, p)
		}
	}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if below[p.parent] && !below[p.pid] {
				below[p.pid], grew = true, true
				found = append(found, p)
			}
		}
	}
	return found
}

// peakMemory is the largest resident size so far of a process, in bytes; 0 for
// one that is gone.
func peakMemory(pid int) int64 {
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
