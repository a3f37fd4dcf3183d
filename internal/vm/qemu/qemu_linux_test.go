package qemu

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/internal/fault"
	"aibox/internal/vm"
	"aibox/internal/vm/vmtest"
)

// fake is a backend whose QEMU is the test binary.
func fake(t *testing.T) Backend {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Backend{NoSandbox: true, program: exe}
}

// file makes an empty file for a spec and closes it when the test ends.
func file(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func spec(t *testing.T, arg string) vm.Spec {
	t.Helper()
	return vm.Spec{Memory: 512, CPUs: 2, Kernel: file(t, "kernel"), RootDisk: file(t, "disk"),
		Console: file(t, "console.log"), KernelArgs: []string{arg}}
}

func TestConformance(t *testing.T) {
	vmtest.Suite(t, fake(t), func(t *testing.T) vm.Spec { return spec(t, "test=echo") })
}

// ended starts a machine, waits for its end, and returns why and its console.
func ended(t *testing.T, b vm.Backend, s vm.Spec) (string, error) {
	t.Helper()
	m, err := b.Start(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Kill)
	select {
	case <-m.Done():
	case <-time.After(time.Minute):
		t.Fatal("the machine does not end")
	}
	log, err := os.ReadFile(s.Console.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(log), m.Err()
}

func TestReasonIsFromTheConsole(t *testing.T) {
	for arg, want := range map[string]string{
		"test=panic": "the VM gave up: Kernel panic - not syncing: No working init?[2J found.",
		"test=fail":  "the VM gave up: aibox-init: mounts: nothing to mount",
	} {
		s := spec(t, arg)
		_, err := ended(t, fake(t), s)
		if err == nil || err.Error() != want || !strings.Contains(fault.HintOf(err), s.Console.Name()) {
			t.Errorf("%s: %v (hint %q), want %s", arg, err, fault.HintOf(err), want)
		}
	}
}

func TestNoMemory(t *testing.T) {
	_, err := ended(t, fake(t), spec(t, "test=memory"))
	if fault.KindOf(err) != fault.Machine || !strings.Contains(err.Error(), "not enough free memory") || !strings.Contains(fault.HintOf(err), "--memory") {
		t.Errorf("%v, hint %q", err, fault.HintOf(err))
	}
}

func TestConsoleFileIsBounded(t *testing.T) {
	log, err := ended(t, fake(t), spec(t, "test=flood"))
	if err == nil || err.Error() != "the VM gave up: aibox-init: last: words" {
		t.Errorf("reason: %v", err)
	}
	if len(log) < maxConsole || len(log) > maxConsole+maxTail+200 {
		t.Errorf("console of %d bytes", len(log))
	}
	for _, part := range []string{strings.Repeat("0", 62), "bytes are left out here]", "aibox-init: last: words"} {
		if !strings.Contains(log, part) {
			t.Errorf("console has no %q", part)
		}
	}
	if !strings.HasSuffix(log, "last: words") {
		t.Error("the end is not at the end")
	}
}

func TestCheck(t *testing.T) {
	good := spec(t, "a=b")
	for name, c := range map[string]struct {
		change func(*vm.Spec)
		kind   fault.Kind
		part   string
	}{
		"little memory": {func(s *vm.Spec) { s.Memory = 1 }, fault.Usage, "1 MiB of memory are too few"},
		"much memory":   {func(s *vm.Spec) { s.Memory = 5000 }, fault.Machine, "more than the 4000"},
		"no cpus":       {func(s *vm.Spec) { s.CPUs = 0 }, fault.Usage, "0 CPUs"},
		"many cpus":     {func(s *vm.Spec) { s.CPUs = 10000 }, fault.Usage, "10000 CPUs"},
		"no kernel":     {func(s *vm.Spec) { s.Kernel = nil }, fault.Failed, "needs a kernel"},
		"two words":     {func(s *vm.Spec) { s.KernelArgs = []string{"a init=/bin/sh"} }, fault.Failed, "not one word"},
	} {
		s := good
		c.change(&s)
		if err := check(s, 4000); err == nil || fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := check(good, 4000); err != nil {
		t.Errorf("a good spec: %v", err)
	}
}

func TestMissingPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Backend{}.Start(context.Background(), spec(t, "x"))
	if fault.KindOf(err) != fault.Machine || !strings.Contains(fault.HintOf(err), "qemu-system-x86") {
		t.Errorf("without QEMU: %v, hint %q", err, fault.HintOf(err))
	}
	b := fake(t)
	b.NoSandbox = false
	_, err = b.Start(context.Background(), spec(t, "x"))
	if fault.KindOf(err) != fault.Machine || !strings.Contains(fault.HintOf(err), "bubblewrap") {
		t.Errorf("without bubblewrap: %v, hint %q", err, fault.HintOf(err))
	}
}

func TestUselessKVM(t *testing.T) {
	if err := tryKVM("/dev/null"); err == nil || !strings.Contains(err.Error(), "/dev/null: ask for its version") {
		t.Errorf("a device that is no KVM: %v", err)
	}
	if err := tryKVM("/nonexistent"); err == nil {
		t.Error("no device passes for KVM")
	}
}
