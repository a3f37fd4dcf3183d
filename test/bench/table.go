package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// row compares aibox with a peer. Less is better.
type row struct {
	name, peer   string
	ours, theirs []time.Duration
	goal         float64 // highest ratio that is fine
}

func (r row) ratio() float64 { return float64(median(r.ours)) / float64(median(r.theirs)) }

func (r row) verdict() string {
	if r.ratio() <= r.goal {
		return "met"
	}
	return "missed"
}

func median(d []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2]
}

// spread is half of the middle half, in percent of the median.
func spread(d []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(d))
	return 50 * float64(sorted[len(sorted)*3/4]-sorted[len(sorted)/4]) / float64(median(d))
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| what | aibox | beside | its time | ratio | goal | |\n|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.2f | %.2f | %s |\n",
			r.name, cell(r.ours), r.peer, cell(r.theirs), r.ratio(), r.goal, r.verdict())
	}
	return b.String()
}

func cell(d []time.Duration) string {
	return fmt.Sprintf("%d ms ± %.0f%%", median(d).Milliseconds(), spread(d))
}

// header names the machine.
func (m machine) header() string {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	accelerator := "software emulation (TCG)"
	if m.kvm {
		accelerator = "KVM"
	}
	return fmt.Sprintf("# Measured by `make bench`\n\n%s, %d CPUs, Linux %s, %s, medians of %d\n\n",
		time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), strings.TrimSpace(string(kernel)), accelerator, rounds)
}
