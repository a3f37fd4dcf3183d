//go:build linux

package peer

import (
	"os"
	"os/exec"
	"path/filepath"
)

// Debian is a VM of Debian with systemd and Debian's kernel for clouds, whose
// console is standard output. What it writes to its disk is dropped.
func (p Paths) Debian() (*exec.Cmd, error) {
	dir := filepath.Join(p.Bench, "debian")
	disk := filepath.Join(dir, "disk.ext4")
	if !exists(disk) {
		return nil, Absent("scripts/bench-setup.sh could not make a disk of Debian")
	}
	args := []string{"-M", "q35", "-m", "2048M", "-smp", "2", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio",
		"-kernel", filepath.Join(dir, "cloud/boot/vmlinuz"), "-initrd", filepath.Join(dir, "cloud/boot/initrd"),
		"-append", "root=/dev/vda rw console=ttyS0 quiet no_timer_check",
		"-drive", "if=none,format=raw,id=root,snapshot=on,file=" + disk, "-device", "virtio-blk-pci,drive=root",
		"-netdev", "user,id=net,restrict=on", "-device", "virtio-net-pci,netdev=net"}
	return exec.Command(p.QEMU, append(args, p.Accelerator(true)...)...), nil
}

// Virtme is virtme-ng, which starts a shell in dir in a VM that has the host's own
// root file system.
func (p Paths) Virtme(dir string) (*exec.Cmd, error) {
	root := filepath.Join(p.Bench, "virtme")
	if !exists(root) {
		return nil, Absent("scripts/bench-setup.sh could not fetch virtme-ng")
	}
	cmd := exec.Command("python3", filepath.Join(root, "usr/bin/vng"), "--run", filepath.Join(p.Bench, "debian/stock/boot/vmlinuz"),
		"--memory", "2G", "--cpus", "2", "--append", "no_timer_check", "--cwd", dir)
	cmd.Dir = dir
	tools := filepath.Join(p.Bench, "tools/usr/bin") // modprobe
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(root, "usr/lib/python3/dist-packages"),
		"PATH="+filepath.Join(root, "usr/bin")+":"+os.Getenv("PATH")+":"+tools)
	return cmd, nil
}
