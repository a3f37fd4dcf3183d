//go:build linux

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"aibox/demo"
	"aibox/internal/cli"
	"aibox/test/bench/report"
)

// Size of the repository that a task starts from.
const (
	taskCommits = 20000
	taskFiles   = 10000
	taskRounds  = 3
)

const taskKey = "sk-ant-bench"

// task measures a task without the time of Claude Code, beside what git takes
// on the host to bundle and to clone the same.
func (m machine) task() ([]report.Row, error) {
	home, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	project := filepath.Join(home, "project")
	if err := makeHistory(home, project); err != nil {
		return nil, err
	}
	var ours, theirs []time.Duration
	var phases taskPhases
	for range taskRounds {
		git, err := bundleAndClone(home, project)
		if err != nil {
			return nil, err
		}
		task, err := m.oneTask(home, project)
		if err != nil {
			return nil, err
		}
		phases = append(phases, task)
		ours, theirs = append(ours, task.total()), append(theirs, git)
	}
	return []report.Row{{
		Name: fmt.Sprintf("a task outside of Claude Code, %d commits, %d files", taskCommits, taskFiles), Unit: "s", Note: phases.String(),
		Ours: seconds(ours), Peers: []report.Peer{{Name: "git bundle create and git clone on the host", Values: seconds(theirs), Goal: report.AtMost(2), Rest: restTask}},
	}}, nil
}

// makeHistory makes the repository and a config with a login.
func makeHistory(home, project string) error {
	if err := os.Mkdir(project, 0o755); err != nil {
		return err
	}
	if err := gitIn(home, project, nil, "init", "--quiet", "--initial-branch=main"); err != nil {
		return err
	}
	var b strings.Builder
	for i := range taskCommits {
		fmt.Fprintf(&b, "commit refs/heads/main\ncommitter T <t@t> %d +0000\ndata 1\nc\n", 1000000000+i)
		if i == 0 {
			for f := range taskFiles {
				text := fmt.Sprintf("file %d\n%s", f, strings.Repeat("some text of a file\n", 20))
				fmt.Fprintf(&b, "M 100644 inline d%d/f%d\ndata %d\n%s\n", f/100, f, len(text), text)
			}
			continue
		}
		text := fmt.Sprintf("file %d, changed by %d\n%s", i%taskFiles, i, strings.Repeat("some text of a file\n", 20))
		fmt.Fprintf(&b, "M 100644 inline d%d/f%d\ndata %d\n%s\n", i%taskFiles/100, i%taskFiles, len(text), text)
	}
	for _, step := range []struct {
		input string
		args  []string
	}{{b.String(), []string{"fast-import", "--quiet"}}, {"", []string{"reset", "--quiet", "--hard"}}, {"", []string{"gc", "--quiet"}}} {
		if err := gitIn(home, project, strings.NewReader(step.input), step.args...); err != nil {
			return err
		}
	}
	return nil
}

func gitIn(home, dir string, input *strings.Reader, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	if input != nil {
		cmd.Stdin = input
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}

func bundleAndClone(home, project string) (time.Duration, error) {
	dir, err := os.MkdirTemp(home, "clone-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	start := time.Now()
	bundle := filepath.Join(dir, "bundle")
	if err := gitIn(home, project, nil, "bundle", "create", "--quiet", bundle, "main"); err != nil {
		return 0, err
	}
	err = gitIn(home, dir, nil, "clone", "--quiet", "--branch", "main", bundle, "clone")
	return time.Since(start), err
}

// oneTask is `aibox task` against a scripted API that answers at once.
func (m machine) oneTask(home, project string) (taskPhase, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return taskPhase{}, err
	}
	api := &http.Server{Handler: demo.NewAPI(taskKey), ReadTimeout: time.Minute}
	go func() { _ = api.Serve(l) }()
	defer api.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return taskPhase{}, err
	}
	defer r.Close()
	_, err = w.WriteString("http://" + l.Addr().String())
	w.Close()
	if err != nil {
		return taskPhase{}, err
	}
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=" + taskKey, "AIBOX_VIRTIOFSD=" + m.VirtiofsdDir}
	if err := m.configure(env, project, "env: [ANTHROPIC_API_KEY]\n"); err != nil {
		return taskPhase{}, err
	}
	cmd := exec.Command(m.aibox, cli.UpstreamCommand, "task", "--json", "--image", m.Image, "say one word")
	cmd.Dir, cmd.Env, cmd.ExtraFiles, cmd.Stderr = project, env, []*os.File{r}, os.Stderr
	start := time.Now()
	out, err := cmd.Output()
	took := time.Since(start)
	if err != nil {
		return taskPhase{}, fmt.Errorf("aibox task: %w", err)
	}
	return readPhases(start, took, out)
}
