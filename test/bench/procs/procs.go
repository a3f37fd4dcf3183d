// Package procs measures the memory of a tree of processes, as Linux's /proc
// tells it.
package procs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Peak is the most memory that the processes of one name had together, in MB.
type Peak struct{ Resident, Proportional map[string]float64 }

// NewPeak is of nothing.
func NewPeak() Peak { return Peak{map[string]float64{}, map[string]float64{}} }

// Look looks at root and all processes below it.
func (p Peak) Look(root int) {
	resident, proportional := map[string]float64{}, map[string]float64{}
	for _, pid := range processes(root) {
		name := processName(pid, root)
		resident[name] += field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")
		proportional[name] += field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:")
	}
	for name := range resident {
		p.Resident[name] = max(p.Resident[name], resident[name])
		p.Proportional[name] = max(p.Proportional[name], proportional[name])
	}
}

// processes are root and all below it.
func processes(root int) []int {
	all := []int{root}
	for i := 0; i < len(all); i++ {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i]))
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			for number := range strings.FieldsSeq(string(text)) {
				if pid, err := strconv.Atoi(number); err == nil {
					all = append(all, pid)
				}
			}
		}
	}
	return all
}

// Aibox is the name of aibox's own process.
const Aibox = "aibox"

// processName tells aibox's helpers from aibox.
func processName(pid, root int) string {
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	name := strings.TrimSpace(string(comm))
	if name == Aibox && pid != root {
		return "aibox's helpers"
	}
	return name
}

// field reads a size in kB from a file of /proc, in MB; 0 if it cannot be read.
func field(path, name string) float64 {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			kB, _ := strconv.ParseFloat(strings.Fields(value)[0], 64)
			return kB * 1024 / 1e6
		}
	}
	return 0
}
