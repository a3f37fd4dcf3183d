//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"aibox/internal/run"
	"aibox/internal/vm/qemu"
	"aibox/test/bench/peer"
	"aibox/test/bench/work"
	"aibox/test/output"
)

// machine is what is measured, and on what.
type machine struct {
	peer.Paths
	aibox string // the program
	guest string // the bench's program for VMs
}

func thisMachine() machine {
	return machine{
		aibox: os.Getenv("AIBOX_BIN"), guest: os.Getenv("AIBOX_BENCH_GUEST"),
		Paths: peer.Paths{QEMU: "qemu-system-x86_64", Image: os.Getenv("AIBOX_IMAGE"), Bench: os.Getenv("AIBOX_BENCH"),
			VirtiofsdDir: os.Getenv("AIBOX_VIRTIOFSD"), KVM: qemu.Acceleration().KVM},
	}
}

// place is a home and a project of its own for sessions of aibox.
type place struct {
	machine
	home, project string
	env           []string
}

// newPlace makes a project with a config in a new home. remove ends it.
func (m machine) newPlace(config string) (p place, remove func(), err error) {
	home, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return place{}, nil, err
	}
	remove = func() { _ = os.RemoveAll(home) }
	p = place{m, home, filepath.Join(home, "project"), m.environment(home)}
	if err = os.Mkdir(p.project, 0o755); err == nil {
		err = m.configure(p.env, p.project, config)
	}
	if err != nil {
		remove()
	}
	return p, remove, err
}

func (m machine) environment(home string) []string {
	return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "LANG=C.UTF-8", "AIBOX_VIRTIOFSD=" + m.VirtiofsdDir}
}

// configure writes the project's config.
func (m machine) configure(env []string, project, config string) error {
	cmd := exec.Command(m.aibox, "config", "path")
	cmd.Dir, cmd.Env = project, env
	path, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("aibox config path: %w", err)
	}
	name := string(bytes.TrimSpace(path))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(config), 0o600)
}

// session is a run of aibox.
type session struct {
	cmd       *exec.Cmd
	alive     *os.File // its end ends the run
	out, said output.Buffer
}

// start starts a session with a command. wait must follow.
func (p place) start(command string) (*session, error) {
	request, err := json.Marshal(run.Request{Dir: p.project, Home: p.home, Image: p.Image, Command: command, Timings: true})
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if _, err := w.Write(request); err != nil {
		w.Close()
		return nil, err
	}
	s := &session{cmd: exec.Command(p.aibox, run.SessionCommand), alive: w}
	s.cmd.Dir, s.cmd.Env, s.cmd.ExtraFiles = p.project, p.env, []*os.File{r}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.said
	if err := s.cmd.Start(); err != nil {
		w.Close()
		return nil, err
	}
	return s, nil
}

// wait returns what the command printed.
func (s *session) wait() (string, error) {
	timer := time.AfterFunc(sessionLimit, func() { _ = s.alive.Close() })
	defer timer.Stop()
	defer s.alive.Close()
	if err := s.cmd.Wait(); err != nil {
		return "", fmt.Errorf("a session of aibox: %w: %s%s", err, s.said.String(), s.out.String())
	}
	return s.out.String(), nil
}

// sessionLimit bounds one VM with its work.
const sessionLimit = 10 * time.Minute

// guestJobs runs the guest program's jobs in a VM of aibox. The program runs from
// the state disk, so that no share is busy with it.
func (p place) guestJobs(jobs string) (work.Outcome, error) {
	s, err := p.start(guestCommand(jobs))
	if err != nil {
		return work.Outcome{}, err
	}
	out, err := s.wait()
	if err != nil {
		return work.Outcome{}, err
	}
	return work.Parse(out)
}

func guestCommand(jobs string) string {
	return "cp bench-guest ~/.cache/guest && ~/.cache/guest " + jobs
}
