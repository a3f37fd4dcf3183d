package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"aibox/test/bench/work"
)

// kit is where the disk with this program and the archive is mounted.
const kit = "/mnt"

// peer does the jobs that the kernel's command line names, prints their outcome
// and ends the VM.
func peer() {
	err := prepare()
	if err == nil {
		err = all(jobs(), doInPeer).Print(os.Stdout)
	}
	if err != nil {
		fmt.Println("guest:", err)
	}
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART) // which QEMU takes for its end
	select {}
}

func jobs() []string {
	line, _ := os.ReadFile("/proc/cmdline")
	for word := range strings.FieldsSeq(string(line)) {
		if list, ok := strings.CutPrefix(word, work.JobsWord); ok {
			return strings.Split(list, work.JobsSeparator)
		}
	}
	return nil
}

// prepare makes aibox's root disk the root, with the kit below it.
func prepare() error {
	const root = "/os"
	if err := mounts([]mountPoint{{"dev", "/dev", "devtmpfs"}}); err != nil {
		return err
	}
	if err := loadModules("/modules"); err != nil {
		return err
	}
	if err := mounts([]mountPoint{
		{"/dev/vda", root, "ext4"}, {"/dev/vdb", root + kit, "ext4"}, {"dev", root + "/dev", "devtmpfs"},
		{"proc", root + "/proc", "proc"}, {"sys", root + "/sys", "sysfs"}, {"tmp", root + "/tmp", "tmpfs"}, {"run", root + "/run", "tmpfs"},
	}); err != nil {
		return err
	}
	if err := unix.Chroot(root); err != nil {
		return err
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return os.Setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
}

type mountPoint struct{ source, target, kind string }

// mounts mounts disks for reading only.
func mounts(list []mountPoint) error {
	for _, m := range list {
		flags := uintptr(0)
		if m.kind == "ext4" {
			flags = unix.MS_RDONLY
		}
		if err := unix.Mount(m.source, m.target, m.kind, flags, ""); err != nil && err != unix.EBUSY {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	return nil
}

// loadModules loads the modules of a folder in the order that its list has. A
// kernel that brings everything has no such folder.
func loadModules(dir string) error {
	order, err := os.ReadFile(filepath.Join(dir, "order"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(order)) {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(f.Fd()), "", 0)
		f.Close()
		if err != nil && err != unix.EEXIST {
			return fmt.Errorf("load %s: %w", name, err)
		}
	}
	return nil
}

// doInPeer mounts first, or prepares the network.
func doInPeer(name, kind, argument string) (work.Results, error) {
	if kind == "net" {
		if err := network(); err != nil {
			return nil, err
		}
		return do(name, kind, argument)
	}
	dir := filepath.Join("/run", name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	if err := mount(dir, kind, argument); err != nil {
		return nil, fmt.Errorf("mount: %w", err)
	}
	results, err := work.Share(filepath.Join(dir, "work"), kit)
	if err != nil {
		return nil, err
	}
	return results, unix.Unmount(dir, 0)
}

// network is what QEMU's user networking expects of a VM.
func network() error {
	for _, line := range []string{"link set lo up", "link set eth0 up", "addr add 10.0.2.15/24 dev eth0", "route add default via 10.0.2.2"} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
	}
	return nil
}
