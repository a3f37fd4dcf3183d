package qemu

import (
	"fmt"
	"strconv"
	"strings"

	"aibox/internal/wire"
)

// Line is all that QEMU's command line depends on. Files are the numbers they
// have in QEMU; -1 is none and only allowed for StateDisk, Shares and NineP, where
// 0 is none too.
type Line struct {
	KVM          bool
	Memory, CPUs int

	Kernel, RootDisk, StateDisk, Shares, NineP, Link, Console int
	Scratch                                                   bool // of the state disk
	// RootPath is where the sandbox shows the root disk read-only, without which
	// QEMU gets it as an open file.
	RootPath string

	// TSC is the speed of the host's time stamp counter in kHz; 0 is unknown.
	TSC        int
	KernelArgs []string
}

// EmulatedCPU is the CPU of a VM without KVM. Of one with fast string
// instructions the kernel would have every byte copied on its own, each of which
// QEMU emulates; else it copies eight at once. One with svm would have the kernel
// prepare for a tenth of a second to run VMs, which twice emulated are of no use.
const EmulatedCPU = "max,-erms,-fsrm,-svm"

// emulatedTimer is how fast the timer of QEMU's own local APIC counts, in kHz: by
// nanoseconds (hw/intc/apic.c in QEMU).
const emulatedTimer = 1_000_000

// SerialPorts is how many ports the serial device has: QEMU keeps the first for a
// console, and the link and the shares have one each. The device has two queues
// for each, 64 by default, of which the VM's kernel looks at every one with each
// interrupt, and QEMU each time it waits.
const SerialPorts = 3

// Args returns QEMU's arguments without its own name.
func Args(l Line) []string {
	a := []string{
		"-M", machineOption(l),
		"-m", strconv.Itoa(l.Memory) + "M", "-smp", strconv.Itoa(l.CPUs),
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
	}
	if l.KVM {
		a = append(a, "-accel", "kvm", "-cpu", "host")
	} else {
		a = append(a, "-accel", "tcg,thread=multi", "-cpu", EmulatedCPU)
	}
	// -kernel takes no file set; the number's own path leads to the sealed copy.
	a = append(a, "-kernel", "/proc/self/fd/"+strconv.Itoa(l.Kernel), "-append", kernelLine(l))
	a = append(a, rootDisk(l)...)
	if l.StateDisk >= 0 {
		a = append(a, stateDisk(l.StateDisk, l.Scratch)...)
	}
	a = append(a,
		"-chardev", socket("console", l.Console), "-serial", "chardev:console",
		"-device", "virtio-serial-device,max_ports="+strconv.Itoa(SerialPorts),
		"-chardev", socket("link", l.Link), "-device", "virtserialport,chardev=link,name="+wire.PortName,
		"-object", "rng-builtin,id=rng", "-device", "virtio-rng-device,rng=rng",
		"-device", "virtio-balloon-device,free-page-reporting=on")
	if l.NineP > 0 {
		a = append(a, "-chardev", socket("ninep", l.NineP), "-device", "virtserialport,chardev=ninep,name="+wire.SharePortName)
	}
	if l.Shares >= 0 {
		a = append(a, "-object", fmt.Sprintf("memory-backend-memfd,id=memory,size=%dM,share=on", l.Memory),
			"-chardev", socket("shares", l.Shares), "-device", "vhost-user-fs-device,chardev=shares,tag="+wire.ShareTag)
	}
	return a
}

// machineOption selects a machine of eight virtio-mmio slots that are named on the
// kernel's command line, which needs acpi=off. Without the two interrupt
// chips a kernel under software emulation has nothing to calibrate its clock with.
func machineOption(l Line) string {
	m := "microvm,acpi=off,x-option-roms=off,pit=on,pic=on,rtc=on,isa-serial=on,auto-kernel-cmdline=on"
	if l.Shares >= 0 {
		m += ",memory-backend=memory" // the file server maps the VM's memory
	}
	return m
}

// kernelLine is the kernel's command line. panic=-1 with reboot=t ends QEMU at
// once after a panic, since -no-reboot turns the reboot into an exit.
func kernelLine(l Line) string {
	words := []string{"console=ttyS0", "quiet", "root=/dev/vda", "rootfstype=ext4", "ro",
		"init=/sbin/aibox-init", "panic=-1", "reboot=t", "no_timer_check"}
	if !l.KVM {
		words = append(words, clock(l.TSC)...)
	}
	return strings.Join(append(words, l.KernelArgs...), " ")
}

// EmulatedClock returns the words of the command line of aibox's kernel that tell a
// VM without KVM how fast its clocks run, as far as the host knows.
func EmulatedClock() []string { return clock(hostTSC()) }

func clock(khz int) []string {
	words := []string{fmt.Sprintf("lapic_timer_khz=%d", emulatedTimer)}
	if khz > 0 {
		words = append(words, fmt.Sprintf("tsc_early_khz=%d", khz), "tsc=reliable") // see hostTSC
	}
	return words
}

// rootDisk is the first disk, /dev/vda.
func rootDisk(l Line) (a []string) {
	name := l.RootPath
	if name == "" {
		name = "/dev/fdset/1"
		a = []string{"-add-fd", fmt.Sprintf("fd=%d,set=1", l.RootDisk)}
	}
	return append(a,
		"-blockdev", "driver=file,node-name=root-file,filename="+name+",read-only=on",
		"-blockdev", "driver=raw,node-name=root,file=root-file,read-only=on",
		"-device", "virtio-blk-device,drive=root")
}

// stateDisk is the second disk, /dev/vdb. What the guest discards or zeroes
// becomes a hole, so that the file stays sparse. By default QEMU would halt the VM
// when the host's disk is full, and nobody could wake it.
func stateDisk(fd int, scratch bool) []string {
	flush := ""
	if scratch {
		flush = ",cache.no-flush=on"
	}
	return []string{
		"-add-fd", fmt.Sprintf("fd=%d,set=2", fd),
		"-blockdev", "driver=file,node-name=state-file,filename=/dev/fdset/2,discard=unmap" + flush,
		"-blockdev", "driver=raw,node-name=state,file=state-file,discard=unmap,detect-zeroes=unmap",
		"-device", "virtio-blk-device,drive=state,werror=report",
	}
}

func socket(id string, fd int) string { return fmt.Sprintf("socket,id=%s,fd=%d", id, fd) }
