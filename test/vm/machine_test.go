//go:build vm

package vm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aibox/internal/guest/link"
	"aibox/internal/vm"
	"aibox/internal/vm/qemu"
	"aibox/internal/vm/vmtest"
	"aibox/internal/wire"
)

// guestInit is the VM's init where this test's own program plays it: for the
// tests of the machine alone it does what "test=" on the kernel's command line
// says, else it is the stand-in that sends hostile results.
func guestInit() {
	for _, m := range [][2]string{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}} {
		if err := unix.Mount(m[0], m[1], m[0], 0, ""); err != nil {
			fmt.Println("mount", m[1], err) // tells why the rest fails
		}
	}
	line, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		fmt.Println(err)
	}
	switch {
	case strings.Contains(string(line), "test=panic"):
		os.Exit(3)
	case strings.Contains(string(line), "test=fail"):
		fmt.Println("aibox-init: mounts: nothing to mount")
	case strings.Contains(string(line), "test=disks"):
		tryDisks()
	case strings.Contains(string(line), "test=echo"):
		echo()
	default:
		standInInit()
	}
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART)
	select {} // until the machine is gone
}

func echo() {
	port, err := link.OpenPort(wire.PortName, 20*time.Second)
	if err != nil {
		fmt.Println("open the link:", err)
		return
	}
	if err := vmtest.Echo(port); err != nil {
		fmt.Println("echo:", err)
	}
}

func tryDisks() {
	for _, disk := range []string{"vda", "vdb"} {
		ro, _ := os.ReadFile("/sys/block/" + disk + "/ro")
		size, _ := os.ReadFile("/sys/block/" + disk + "/size")
		err := os.WriteFile("/dev/"+disk, []byte("state"), 0)
		fmt.Printf("%s ro=%s size=%s refused=%v\n", disk, strings.TrimSpace(string(ro)), strings.TrimSpace(string(size)), err != nil)
	}
}

// testDisk makes a root disk whose init is this program.
func testDisk(t *testing.T) *os.File {
	t.Helper()
	dir := t.TempDir()
	root, disk := filepath.Join(dir, "root"), filepath.Join(dir, "os.ext4")
	for _, name := range []string{"sbin", "proc", "sys", "dev"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "sbin", "aibox-init"), self, 0o755); err != nil {
		t.Fatal(err)
	}
	mke2fs, err := exec.LookPath("mke2fs")
	if err != nil {
		mke2fs = "/usr/sbin/mke2fs"
	}
	size := fmt.Sprint(len(self)>>20+16) + "M"
	if out, err := exec.Command(mke2fs, "-q", "-t", "ext4", "-O", "^has_journal", "-d", root, disk, size).CombinedOutput(); err != nil {
		t.Fatalf("mke2fs: %v\n%s", err, out)
	}
	return open(t, disk)
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// machineSpec returns what makes a machine that does what arg says.
func machineSpec(t *testing.T, disk *os.File, arg string) vm.Spec {
	t.Helper()
	console, err := os.Create(filepath.Join(t.TempDir(), "console.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			text, _ := os.ReadFile(console.Name())
			t.Logf("console:\n%s", tail(string(text), 2000))
		}
		console.Close()
	})
	return vm.Spec{
		Memory: 512, CPUs: 2, Kernel: open(t, filepath.Join(readEnvironment().image, "vmlinuz")),
		RootDisk: disk, Console: console, KernelArgs: []string{arg},
	}
}

func TestMachineKeepsTheContract(t *testing.T) {
	disk := testDisk(t)
	for _, b := range []qemu.Backend{{}, {NoSandbox: true}} {
		t.Run(fmt.Sprintf("NoSandbox=%v", b.NoSandbox), func(t *testing.T) {
			vmtest.Suite(t, b, func(t *testing.T) vm.Spec { return machineSpec(t, disk, "test=echo") })
		})
	}
}

// lastWords runs a machine to its end.
func lastWords(t *testing.T, s vm.Spec) (console string, err error) {
	t.Helper()
	m, err := qemu.Backend{}.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Kill()
	select {
	case <-m.Done():
	case <-time.After(bootDeadline):
		t.Fatal("the machine does not end")
	}
	text, readErr := os.ReadFile(s.Console.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(text), m.Err()
}

func TestMachineTellsWhyItEnded(t *testing.T) {
	disk := testDisk(t)
	for arg, want := range map[string]string{
		"test=panic": "the VM gave up: Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000300",
		"test=fail":  "the VM gave up: aibox-init: mounts: nothing to mount",
	} {
		if _, err := lastWords(t, machineSpec(t, disk, arg)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}

func TestMachineDisks(t *testing.T) {
	s := machineSpec(t, testDisk(t), "test=disks")
	state, err := os.OpenFile(filepath.Join(t.TempDir(), "state"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	if err := state.Truncate(32 << 20); err != nil {
		t.Fatal(err)
	}
	s.StateDisk = state
	console, err := lastWords(t, s)
	if err != nil {
		t.Error(err)
	}
	root, err := s.RootDisk.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("vda ro=1 size=%d refused=true", root.Size()/512),
		fmt.Sprintf("vdb ro=0 size=%d refused=false", 32<<20/512),
	} {
		if !strings.Contains(console, want) {
			t.Errorf("the console has no %q:\n%s", want, console)
		}
	}
	b := make([]byte, 5)
	if _, err := state.ReadAt(b, 0); err != nil || string(b) != "state" {
		t.Errorf("the state disk begins with %q, %v", b, err)
	}
}

// Without KVM the kernel is told how fast its clock and its timer run. The waits
// are short, since it wakes up in between long ones.
func TestMachineTimersKeepTheHostsPace(t *testing.T) {
	const asleep, slack = 2 * time.Second, 100 * time.Millisecond
	s := newBox(t).shell()
	s.must("true")
	start := time.Now()
	out := s.must("exec 9<> <(:); a=$EPOCHREALTIME; for i in {1..40}; do read -t 0.05 -u 9; done; echo $a $EPOCHREALTIME")
	took := time.Since(start)
	var from, to float64
	if _, err := fmt.Sscan(out, &from, &to); err != nil {
		t.Fatal(out, err)
	}
	seen := time.Duration((to - from) * float64(time.Second))
	if seen < asleep || seen > took+slack || took > 3*asleep {
		t.Errorf("waits of %v took %v by the VM's clock, %v by the host's", asleep, seen, took)
	}
}
