package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

func processTries() []try {
	return []try{
		{"see processes of the user", seeProcesses},
		{"signal a process of the user", func(t Target) error { return unix.Kill(t.PID, unix.SIGCONT) }},
		{"trace a process of the user", func(t Target) error { return seize(t.PID) }},
		{"read the memory of a process of the user", func(t Target) error { return readMemory(t.PID) }},
		{"take an open file of a process of the user", func(t Target) error {
			fd, err := unix.PidfdOpen(t.PID, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			got, err := unix.PidfdGetfd(fd, 0, 0)
			if err == nil {
				unix.Close(got)
			}
			return err
		}},
		{"enter a namespace of a process of the user", enterNamespace},
		{"start a program of the host", func(Target) error { return exec.Command("/bin/true").Run() }},
		{"become root", func(Target) error { return onThread(func() error { return unix.Setresuid(0, 0, 0) }) }},
		{"regain a capability", regain},
		{"shed no-new-privileges", func(Target) error {
			v, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			if err == nil && v == 1 {
				err = errors.New("no new privileges is set")
			}
			return err
		}},
	}
}

func seeProcesses(t Target) error {
	dirs, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		return err
	}
	for _, d := range dirs {
		b, err := os.ReadFile(d)
		name := strings.TrimSpace(string(b))
		if err == nil && name != "bwrap" && name != "attacker" && !strings.HasPrefix(name, "qemu") && !strings.HasPrefix(name, "virtiofsd") {
			return nil
		}
	}
	return fmt.Errorf("only the sandbox's own %d", len(dirs))
}

func seize(pid int) error {
	return onThread(func() error {
		if err := unix.PtraceSeize(pid); err != nil {
			return err
		}
		_ = unix.PtraceInterrupt(pid)
		var status unix.WaitStatus
		_, _ = unix.Wait4(pid, &status, unix.WALL, nil)
		return unix.PtraceDetach(pid)
	})
}

func readMemory(pid int) error {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return err
	}
	var from, to uint64
	if _, err := fmt.Sscanf(string(maps), "%x-%x", &from, &to); err != nil {
		return err
	}
	b := make([]byte, 16)
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return err
	}
	defer mem.Close()
	_, err = mem.ReadAt(b, int64(from))
	return err
}

func enterNamespace(t Target) error {
	fd, err := unix.PidfdOpen(t.PID, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return onThread(func() error { return unix.Setns(fd, unix.CLONE_NEWNS) })
}

func regain(Target) error {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "CapBnd:"); ok && strings.Trim(strings.TrimSpace(rest), "0") != "" {
			return nil // a program with file capabilities could use it
		}
	}
	return errors.New("the bounding set is empty")
}

// onThread runs f on a thread that ends with it.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: Go ends the thread
		done <- f()
	}()
	return <-done
}
