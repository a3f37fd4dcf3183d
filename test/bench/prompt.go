//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"

	"aibox/test/bench/peer"
	"aibox/test/bench/report"
)

// The sides take turns: each round measures the floor and aibox, every third
// one the peers too, which take much longer.
const (
	promptRounds = 9
	peersEvery   = 3
	promptBudget = 150 * time.Second
)

// limit bounds one measurement.
const limit = 2 * time.Minute

const floorWord = "AIBOX-FLOOR"

// prompt measures the time from the start of the program to a shell's prompt.
func (m machine) prompt() ([]report.Row, error) {
	p, remove, err := m.newPlace("")
	if err != nil {
		return nil, err
	}
	defer remove()
	// the first run formats the state disk, which no later one does
	if _, err := p.untilPrompt(); err != nil {
		return nil, err
	}
	var ours report.Series
	floor := report.Peer{Name: "the floor: bare QEMU, the same kernel and disk, an init that prints", Goal: report.AtMost(1.25), Rest: restPrompt}
	debian := report.Peer{Name: "a VM of Debian with systemd on q35, to its login prompt"}
	virtme := report.Peer{Name: "virtme-ng of Debian 13 with Debian's kernel, to its shell"}
	err = rounds(promptRounds, promptBudget, func(round int) error {
		f, err := m.until(floorWord, m.floorCommand())
		if err != nil {
			return err
		}
		a, err := p.untilPrompt()
		if err != nil {
			return err
		}
		floor.Values, ours = append(floor.Values, f.Seconds()), append(ours, a.Seconds())
		if round%peersEvery == 0 {
			m.addPeer(&debian, "login: ", m.Debian)
			m.addPeer(&virtme, "$ ", func() (*exec.Cmd, error) { return m.Virtme(p.project) })
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	phases, err := p.startPhases()
	if err != nil {
		return nil, err
	}
	return []report.Row{{Name: "start to a shell's prompt", Unit: "s", Ours: ours, Peers: []report.Peer{floor, debian, virtme},
		Note: "QEMU starts the peers' kernels itself, so their time is without firmware and boot loader. Phases of one start of aibox: " + phases}}, nil
}

// startPhases is where the time of one start goes, in the words of --timings.
func (p place) startPhases() (string, error) {
	s, err := p.start("echo")
	if err != nil {
		return "", err
	}
	if _, err := s.wait(); err != nil {
		return "", err
	}
	var phases []string
	for line := range strings.Lines(s.said.String()) {
		if took, name, ok := strings.Cut(line, " ms "); ok {
			phases = append(phases, strings.TrimSpace(name)+" "+strings.TrimSpace(took)+" ms")
		}
	}
	return strings.Join(phases, ", ") + ".", nil
}

// addPeer measures a peer that this machine may not have.
func (m machine) addPeer(p *report.Peer, word string, command func() (*exec.Cmd, error)) {
	cmd, err := command()
	if err == nil {
		var took time.Duration
		if took, err = m.until(word, cmd); err == nil {
			p.Values = append(p.Values, took.Seconds())
			return
		}
	}
	p.Absent = err.Error()
}

// floorCommand is QEMU with aibox's kernel, disk, memory and CPUs, no sandbox and no
// shares, whose init prints one word.
func (m machine) floorCommand() *exec.Cmd {
	args := []string{
		"-M", "microvm,acpi=off,x-option-roms=off,pit=on,pic=on,rtc=on,isa-serial=on,auto-kernel-cmdline=on",
		"-m", "2048M", "-smp", "2", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-serial", "stdio",
		"-kernel", filepath.Join(m.Image, "vmlinuz"),
		"-append", strings.Join(append(m.Clock(), "console=ttyS0 quiet root=/dev/vda rootfstype=ext4 ro panic=-1 reboot=t no_timer_check init=/usr/bin/echo "+floorWord), " "),
	}
	args = append(args, m.Accelerator(false)...)
	return exec.Command(m.QEMU, append(args, peer.Disk(false, "root", filepath.Join(m.Image, "os.ext4"), true)...)...)
}

// until starts a command on a terminal, which virtme-ng insists on, and ends it
// and what it started once it printed the word.
func (m machine) until(word string, cmd *exec.Cmd) (time.Duration, error) {
	start := time.Now()
	terminal, err := pty.Start(cmd) // in a session, so a process group, of its own
	if err != nil {
		return 0, err
	}
	defer terminal.Close()
	took, err := await(terminal, word, start, cmd)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	return took, err
}

// untilPrompt is `aibox run --shell` on a terminal.
func (p place) untilPrompt() (time.Duration, error) {
	cmd := exec.Command(p.aibox, "run", "--shell", "--image", p.Image)
	cmd.Dir, cmd.Env = p.project, p.env
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
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Signal(os.Kill) })
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
			return 0, errors.Join(fmt.Errorf("%q did not appear; seen: %q", word, seen[max(0, len(seen)-500):]), err)
		}
	}
}
