package proc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// parent is a stand-in for aibox: it starts a program and waits to be killed.
func parent(kind string) int {
	cmd := self("stubborn")
	if strings.HasPrefix(kind, "caged") {
		gate, err := NewGate([]byte("go"))
		if err != nil {
			return 1
		}
		var h Handover
		h.Give("gate", gate.Reader())
		cmd = self("gated")
		cmd.Caged, cmd.Gate, cmd.Files = true, gate, h.Files()
	}
	// The mark in the environment is how the test finds the program by now and later.
	cmd.Env = append(cmd.Env, "PROC_TEST_MARK="+os.Getenv("PROC_TEST_MARK"))
	fmt.Println("starting")
	p, err := Start(cmd)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(p.PID())
	<-p.Done()
	return 1
}

// The program ends when the process that started it is killed, at whatever
// moment of the start that is.
func TestProgramDiesWithParent(t *testing.T) {
	for _, kind := range []string{"plain", "caged"} {
		t.Run(kind, func(t *testing.T) {
			if kind == "caged" && !canCage() {
				t.Skip("found no unprivileged user namespaces, wanted them")
			}
			for i := range 40 {
				mark := fmt.Sprintf("%d-%s-%d", os.Getpid(), kind, i)
				cmd := self("parent " + kind)
				cmd.Env = append(cmd.Env, "PROC_TEST_MARK="+mark)
				p, out := started(t, cmd)
				if line := readLine(t, out); line != "starting" {
					t.Fatal(line)
				}
				time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond) // the random moment, not a wait
				if err := p.os.Kill(); err != nil {                           // the parent alone, not its group
					t.Fatal(err)
				}
				<-p.Done()
				nothingWith(t, "PROC_TEST_MARK="+mark)
			}
		})
	}
}

func TestCagedTakesItsChildrenAlong(t *testing.T) {
	if !canCage() {
		t.Skip("found no unprivileged user namespaces, wanted them")
	}
	mark := "PROC_TEST_MARK=" + strconv.Itoa(os.Getpid()) + "-cage"
	cmd := Cmd{Name: "shell", Path: "/bin/sh", Env: []string{mark}, Caged: true,
		Args: []string{"-c", "setsid sleep 3600 & echo $$; exec sleep 3600"}}
	p, out := started(t, cmd)
	if got := readLine(t, out); got != "1" {
		t.Errorf("process id %s in the cage, want 1", got)
	}
	p.Kill()
	nothingWith(t, mark)
}

func canCage() bool {
	_, err := Output(context.Background(), Cmd{Name: "true", Path: "/bin/true", Caged: true})
	return err == nil
}

// endTime is how long the kernel may take to end a process on a busy machine.
const endTime = 10 * time.Second

// nothingWith fails the test when a process whose environment holds mark stays
// alive.
func nothingWith(t *testing.T, mark string) {
	t.Helper()
	deadline := time.Now().Add(endTime)
	for {
		found := ""
		dirs, _ := os.ReadDir("/proc")
		for _, d := range dirs {
			env, _ := os.ReadFile("/proc/" + d.Name() + "/environ")
			if strings.Contains(string(env), mark) {
				found = d.Name()
			}
		}
		if found == "" {
			return
		}
		if time.Now().After(deadline) {
			cmdline, _ := os.ReadFile("/proc/" + found + "/cmdline")
			t.Fatalf("process %s with %s lives on: %q", found, mark, cmdline)
		}
	}
}

func gone(t *testing.T, pid string) {
	t.Helper()
	deadline := time.Now().Add(endTime)
	for {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s lives on: %s", pid, stat)
		}
	}
}
