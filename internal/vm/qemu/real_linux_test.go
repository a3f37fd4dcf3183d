package qemu

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"aibox/internal/vm"
	"aibox/internal/vm/vmtest"
)

// These tests boot a real kernel, AIBOX_TEST_KERNEL, with a root disk,
// AIBOX_TEST_DISK, whose init reads "test=" from the kernel's command line.
func realSpec(t *testing.T, arg string) vm.Spec {
	t.Helper()
	s := vm.Spec{Memory: 512, CPUs: 2, Console: file(t, "console.log"), KernelArgs: []string{arg}}
	for name, f := range map[string]**os.File{"AIBOX_TEST_KERNEL": &s.Kernel, "AIBOX_TEST_DISK": &s.RootDisk} {
		path := os.Getenv(name)
		if path == "" {
			t.Skipf("found no %s, wanted a file", name)
		}
		opened, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { opened.Close() })
		*f = opened
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(s.Console.Name())
			t.Logf("console:\n%s", log[max(0, len(log)-2000):])
		}
	})
	return s
}

func TestRealConformance(t *testing.T) {
	realSpec(t, "")
	for _, b := range []Backend{{}, {NoSandbox: true}} {
		t.Run(fmt.Sprintf("NoSandbox=%v", b.NoSandbox), func(t *testing.T) {
			vmtest.Suite(t, b, func(t *testing.T) vm.Spec { return realSpec(t, "test=echo") })
		})
	}
}

func TestRealReasons(t *testing.T) {
	for arg, want := range map[string]string{
		"test=panic": "the VM gave up: Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000300",
		"test=fail":  "the VM gave up: aibox-init: mounts: nothing to mount",
	} {
		if _, err := ended(t, Backend{}, realSpec(t, arg)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

func TestRealDisks(t *testing.T) {
	s := realSpec(t, "test=disks")
	s.StateDisk = file(t, "state")
	if err := s.StateDisk.Truncate(32 << 20); err != nil {
		t.Fatal(err)
	}
	log, err := ended(t, Backend{}, s)
	if err != nil {
		t.Errorf("%v\n%s", err, log)
	}
	b := make([]byte, 5)
	if _, err := s.StateDisk.ReadAt(b, 0); err != nil || string(b) != "state" {
		t.Errorf("state disk begins with %q, %v", b, err)
	}
	root, err := s.RootDisk.Stat()
	if err != nil {
		t.Fatal(err)
	}
	sizes := fmt.Sprintf("\n1\r\n0\r\n%d\r\n%d\r\n", root.Size()/512, 32<<20/512)
	for _, part := range []string{sizes, "dd: "} {
		if !strings.Contains(log, part) {
			t.Errorf("console has no %q:\n%s", part, log)
		}
	}
}

func TestRealBootTime(t *testing.T) {
	var sum time.Duration
	const runs = 5
	for range runs {
		s := realSpec(t, "test=echo")
		begin := time.Now()
		m, err := Backend{}.Start(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		started := time.Since(begin)
		if _, err := m.Link().Serial.Read(make([]byte, 64)); err != nil {
			t.Fatal(err)
		}
		sum += time.Since(begin)
		t.Logf("started after %v, first byte after %v", started, time.Since(begin))
		m.Kill()
	}
	t.Logf("mean %v", sum/runs)
}
