package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	osuser "os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"aibox/internal/vm/qemu"
)

const kvmDevice = "/dev/kvm"

// kvmState is what decides how /dev/kvm comes to work.
type kvmState struct {
	missing bool
	denied  bool
	cpu     bool   // the processor tells of virtualization
	group   string // of the device
	member  bool   // the user is listed in the group, if not yet in this session
}

// kvm warns only: without it the VM is emulated in software.
func kvm(context.Context, Host) (Result, bool) {
	accel := qemu.Acceleration()
	if accel.KVM {
		return ok("hardware virtualization works")
	}
	return warn(lookAtKVM().fix(), "the VM is emulated in software, which is many times slower: %s", accel.Reason)
}

func lookAtKVM() kvmState {
	var s kvmState
	info, err := os.Stat(kvmDevice)
	s.missing = errors.Is(err, fs.ErrNotExist)
	if f, err := os.OpenFile(kvmDevice, os.O_RDWR, 0); err == nil {
		_ = f.Close()
	} else {
		s.denied = errors.Is(err, fs.ErrPermission)
	}
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	words := strings.Fields(string(cpu))
	s.cpu = slices.Contains(words, "vmx") || slices.Contains(words, "svm")
	if err != nil {
		return s
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		gid := strconv.FormatUint(uint64(stat.Gid), 10)
		if g, err := osuser.LookupGroupId(gid); err == nil {
			s.group = g.Name
		}
		if u, err := osuser.Current(); err == nil {
			groups, _ := u.GroupIds()
			s.member = slices.Contains(groups, gid)
		}
	}
	return s
}

func (s kvmState) fix() string {
	switch {
	case s.missing && s.cpu:
		return "load the kernel's module: sudo modprobe kvm_intel || sudo modprobe kvm_amd"
	case s.missing:
		return "switch virtualization on in the firmware's settings; where this machine is a VM itself, nested virtualization at its host"
	case s.denied && s.group == "kvm" && !s.member:
		return "join its group, then log in again: sudo usermod -aG kvm $USER"
	case s.denied && s.group == "kvm":
		return "log in again: you are in the group kvm, but this session began before"
	case s.denied:
		return "give the device to the group kvm and join it: sudo groupadd -f kvm; sudo chown root:kvm /dev/kvm; sudo chmod 660 /dev/kvm; sudo usermod -aG kvm $USER"
	}
	return "see dmesg for what the kernel says of kvm"
}
