package qemu

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"aibox/internal/vm"
)

// parent is a stand-in for aibox that starts a machine and waits to be killed.
func parent(args []string) int {
	mark := args[0]
	var files [3]*os.File
	for i, name := range args[1:] {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			if f, err = os.Open(name); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		files[i] = f
	}
	fmt.Println("starting")
	m, err := Backend{}.Start(context.Background(), vm.Spec{Memory: 256, CPUs: 1,
		Kernel: files[0], RootDisk: files[1], Console: files[2], KernelArgs: []string{"test=echo", mark}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	<-m.Done()
	return 1
}

// SIGKILL of aibox, at whatever moment, leaves nothing of QEMU or bubblewrap.
func TestRealMachineDiesWithAibox(t *testing.T) {
	s := realSpec(t, "")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	alive := 0
	for i := range 30 {
		mark := fmt.Sprintf("mark=%d.%d", os.Getpid(), i)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		argv := []string{exe, "parent", mark, s.Kernel.Name(), s.RootDisk.Name(), s.Console.Name()}
		p, err := os.StartProcess(exe, argv, &os.ProcAttr{Files: []*os.File{nil, w, os.Stderr}})
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, len("starting"))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond) // the random moment, not a wait
		if len(withMark(mark+" ")) > 0 || len(withMark(mark+"\x00")) > 1 {
			alive++
		}
		_ = p.Kill()
		_, _ = p.Wait()
		r.Close()
		for end := time.Now().Add(time.Second); ; {
			left := withMark(mark)
			if len(left) == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("kill %d leaves %q", i, left)
			}
		}
	}
	t.Logf("%d of 30 kills found QEMU or bubblewrap running", alive)
	if alive == 0 {
		t.Error("no kill came when there was something to leave behind")
	}
}

// withMark returns the command lines that hold the mark.
func withMark(mark string) (found []string) {
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		cmdline, _ := os.ReadFile("/proc/" + d.Name() + "/cmdline")
		if strings.Contains(string(cmdline), mark) {
			found = append(found, string(cmdline))
		}
	}
	return found
}
