//go:build linux

// Package peer starts what aibox is measured beside: VMs of QEMU without aibox,
// file servers, and proxies. Whatever it starts it ends, by its process.
package peer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"aibox/internal/vm/qemu"
	"aibox/test/bench/kit"
	"aibox/test/bench/work"
)

// Paths are the files that peers need.
type Paths struct {
	QEMU         string
	Image        string // folder of aibox's image, whose root disk all VMs of work have
	Kit          kit.Kit
	Bench        string // what scripts/bench-setup.sh fetched
	VirtiofsdDir string // folder of virtiofsd and its libraries
	KVM          bool   // aibox uses it, so the peers do
}

// bootLimit bounds one VM with its work.
const bootLimit = 10 * time.Minute

// VM is one VM of work: the root disk of aibox's image, the kit as second disk,
// and the guest program as init.
type VM struct {
	Stock bool     // Debian's kernel on q35, else aibox's kernel and machine
	Extra []string // more arguments of QEMU
	Jobs  []string
}

// Run starts a VM, waits for its end, and returns what they say.
func (p Paths) Run(vm VM) (work.Outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), bootLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.QEMU, append(p.Machine(vm.Stock, vm.kernelLine()), vm.arguments(vm.Stock, p)...)...)
	out, err := cmd.CombinedOutput()
	o, parsed := work.Parse(string(out))
	if parsed != nil {
		return o, fmt.Errorf("%s: %w (QEMU: %v); its last words:\n%s", strings.Join(vm.Jobs, " "), parsed, err, tail(string(out), 1500))
	}
	return o, nil
}

func tail(text string, most int) string { return text[max(0, len(text)-most):] }

// kernelLine makes the kit's guest program init. QEMU adds words of its own
// behind, so the jobs are one word that the guest looks for.
func (vm VM) kernelLine() string {
	return "root=/dev/vdb init=/guest " + work.JobsWord + strings.Join(vm.Jobs, work.JobsSeparator)
}

func (vm VM) arguments(stock bool, p Paths) []string {
	a := []string{}
	for i, disk := range []string{filepath.Join(p.Image, "os.ext4"), p.Kit.Disk} {
		a = append(a, Disk(stock, fmt.Sprint("d", i), disk, true)...)
	}
	return append(a, vm.Extra...)
}

// Machine are QEMU's arguments without disks: the same memory, CPUs and
// accelerator as aibox's by default.
func (p Paths) Machine(stock bool, words string) []string {
	a := []string{"-m", "2048M", "-smp", "2", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"}
	line := "console=ttyS0 quiet no_timer_check rootfstype=ext4 panic=-1 " + words
	if stock {
		a = append(a, "-M", "q35", "-kernel", filepath.Join(p.Bench, "debian/stock/boot/vmlinuz"), "-initrd", p.Kit.Initrd, "-append", "ro "+line)
	} else {
		a = append(a, "-M", "microvm,acpi=off,x-option-roms=off,pit=on,pic=on,rtc=on,isa-serial=on,auto-kernel-cmdline=on,memory-backend=memory",
			"-object", "memory-backend-memfd,id=memory,size=2048M,share=on",
			"-kernel", filepath.Join(p.Image, "vmlinuz"), "-append", strings.Join(append(p.Clock(), "ro", "reboot=t", line), " "))
	}
	return append(a, p.Accelerator(stock)...)
}

// Clock are the words of the kernel's command line that aibox's VM has too, so
// that its clock starts alike: the times of work are the VM's.
func (p Paths) Clock() []string {
	if p.KVM {
		return nil
	}
	return qemu.EmulatedClock()
}

// Accelerator are QEMU's arguments for the one that aibox uses here, with the CPU
// that people give a stock VM or the one of aibox's.
func (p Paths) Accelerator(stock bool) []string {
	switch {
	case p.KVM:
		return []string{"-accel", "kvm", "-cpu", "host"}
	case stock:
		return []string{"-accel", "tcg,thread=multi", "-cpu", "max"}
	}
	return []string{"-accel", "tcg,thread=multi", "-cpu", qemu.EmulatedCPU}
}

// Disk are QEMU's arguments for one disk.
func Disk(stock bool, id, file string, readOnly bool) []string {
	mode := "read-only=off"
	if readOnly {
		mode = "read-only=on"
	}
	device := "virtio-blk-device"
	if stock {
		device = "virtio-blk-pci"
	}
	return []string{"-drive", "if=none,format=raw,id=" + id + ",file=" + file + "," + mode, "-device", device + ",drive=" + id}
}

// NewDisk makes an empty ext4 disk of 2 GB as a sparse file.
func NewDisk(path string) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(path, 2<<30); err != nil {
		return err
	}
	if out, err := exec.Command("mke2fs", "-q", "-F", "-t", "ext4", path).CombinedOutput(); err != nil {
		return fmt.Errorf("mke2fs: %w: %s", err, out)
	}
	return nil
}
