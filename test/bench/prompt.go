package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// machine is what is measured, and on what.
type machine struct {
	aibox, image, virtiofsd, qemu string
	kvm                           bool // aibox uses it, so the floor does
}

// rounds is how often each side is measured; the sides take turns.
const rounds = 9

// limit bounds one measurement.
const limit = 2 * time.Minute

const floorWord = "AIBOX-FLOOR"

// prompt measures the time from the start of the program to a shell's prompt.
// The floor is QEMU with the same kernel, disk, memory and CPUs, no sandbox and no
// shares, whose init prints one word.
func (m machine) prompt() ([]row, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		return nil, err
	}
	// the first run formats the state disk, which no later one does
	if _, err := m.untilPrompt(dir, project); err != nil {
		return nil, err
	}
	var floor, aibox []time.Duration
	for range rounds {
		f, err := m.untilWord()
		if err != nil {
			return nil, err
		}
		a, err := m.untilPrompt(dir, project)
		if err != nil {
			return nil, err
		}
		floor, aibox = append(floor, f), append(aibox, a)
	}
	return []row{{
		name: "start to a shell's prompt", ours: aibox, theirs: floor,
		peer: "bare QEMU, the same kernel and disk, an init that prints", goal: 1.25,
	}}, nil
}

// untilWord is the floor.
func (m machine) untilWord() (time.Duration, error) {
	args := []string{
		"-M", "microvm,acpi=off,x-option-roms=off,pit=on,pic=on,rtc=on,isa-serial=on,auto-kernel-cmdline=on",
		"-m", "2048M", "-smp", "2", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-serial", "stdio",
		"-kernel", filepath.Join(m.image, "vmlinuz"),
		"-append", "console=ttyS0 quiet root=/dev/vda rootfstype=ext4 ro panic=-1 reboot=t no_timer_check init=/usr/bin/echo " + floorWord,
		"-drive", "if=none,id=root,format=raw,read-only=on,file=" + filepath.Join(m.image, "os.ext4"), "-device", "virtio-blk-device,drive=root",
	}
	if m.kvm {
		args = append(args, "-accel", "kvm", "-cpu", "host")
	} else {
		args = append(args, "-accel", "tcg,thread=multi", "-cpu", "max")
	}
	cmd := exec.Command(m.qemu, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	took, err := await(out, floorWord, start, cmd)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return took, err
}

// untilPrompt is `aibox run --shell` on a terminal.
func (m machine) untilPrompt(home, project string) (time.Duration, error) {
	cmd := exec.Command(m.aibox, "run", "--shell", "--image", m.image)
	cmd.Dir = project
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "LANG=C.UTF-8", "AIBOX_VIRTIOFSD=" + m.virtiofsd}
	start := time.Now()
	terminal, err := pty.Start(cmd)
	if err != nil {
		return 0, err
	}
	defer terminal.Close()
	took, err := await(terminal, "$ ", start, cmd)
	if err != nil {
		return 0, err
	}
	if _, err := io.WriteString(terminal, "exit\r"); err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, terminal) // ends with EIO once aibox is gone
	return took, cmd.Wait()
}

// await reads until the word has come and returns how long after start.
func await(r io.Reader, word string, start time.Time, cmd *exec.Cmd) (time.Duration, error) {
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
	defer timer.Stop()
	var seen []byte
	chunk := make([]byte, 4096)
	for {
		n, err := r.Read(chunk)
		seen = append(seen, chunk[:n]...)
		if bytes.Contains(seen, []byte(word)) {
			return time.Since(start), nil
		}
		if err != nil {
			return 0, errors.Join(fmt.Errorf("%q did not appear; seen: %q", word, seen), err)
		}
	}
}
