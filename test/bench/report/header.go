package report

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Machine is where the bench ran.
type Machine struct {
	CPU, Kernel, QEMU, Load string
	CPUs                    int
	KVM                     bool
}

// ThisMachine asks the system and QEMU's program.
func ThisMachine(qemu string, kvm bool) Machine {
	version, _ := exec.Command(qemu, "--version").Output()
	first, _, _ := strings.Cut(string(version), "\n")
	m := Machine{CPU: cpuModel(read("/proc/cpuinfo")), Kernel: read("/proc/sys/kernel/osrelease"),
		QEMU: strings.TrimPrefix(first, "QEMU emulator version "), CPUs: runtime.NumCPU(), KVM: kvm}
	if field := strings.Fields(read("/proc/loadavg")); len(field) > 0 {
		m.Load = field[0]
	}
	return m
}

func read(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}

func cpuModel(info string) string {
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "CPU of unknown model"
}

// Header is the text above the table.
func (m Machine) Header(day time.Time, took time.Duration) string {
	accelerator := "software emulation (TCG), no KVM"
	if m.KVM {
		accelerator = "KVM"
	}
	return fmt.Sprintf("# Measured by `make bench`\n\n%s, in %d minutes: %s, %d CPUs, Linux %s, QEMU %s, %s. Load of the machine at the start: %s.\n\n"+
		"Values are medians, with half of the middle half as spread and the number of measurements; the sides took turns. What counts is the ratio, aibox's value divided by the\n"+
		"peer's: absolute values are one machine's.\n\n",
		day.UTC().Format(time.DateOnly), int(took.Round(time.Minute).Minutes()), m.CPU, m.CPUs, m.Kernel, m.QEMU, accelerator, m.Load)
}
