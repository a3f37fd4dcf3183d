package task

//lint:file-ignore ST1005 "Claude Code" is a name

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"aibox/internal/wire"
)

// job is a task at work.
type job struct {
	Options
	env   []string
	lines io.Writer // for the user
	asked <-chan struct{}

	settings wire.TaskSettings
	result   wire.TaskResult
}

// do runs the task and sends the results. It returns the session's exit code.
func (j *job) do(ctx context.Context, out io.Writer) int {
	j.result.Outcome = wire.OutcomeFailed
	if err := j.work(ctx); err != nil {
		j.result.Outcome, j.result.Reason = outcomeOf(err), cutText(err.Error(), maxReason)
	}
	text, err := json.Marshal(j.result)
	if err == nil {
		err = send(out, j.Work, text)
	}
	if err != nil {
		fmt.Fprintf(j.lines, "the results could not be sent: %v\n", err)
		return 1
	}
	if j.result.Outcome != wire.OutcomeFinished {
		return 1
	}
	return 0
}

// outcomeOf tells which end of a step is which outcome.
func outcomeOf(err error) string {
	switch {
	case errors.Is(err, errAsked):
		return wire.OutcomeStopped
	case errors.Is(err, errLate):
		return wire.OutcomeTimeout
	}
	return wire.OutcomeFailed
}

// work goes through the steps. What Claude Code did comes back however it ended.
func (j *job) work(ctx context.Context) error {
	if err := os.MkdirAll(j.Work, 0o700); err != nil {
		return err
	}
	if err := j.readSettings(); err != nil {
		return err
	}
	begin := time.Now()
	clone := step{name: "make the project from the start commit", line: "exec 3>&1 1>&2\n" + cloneScript(j.settings), env: gitEnv(), out: j.lines, asked: j.asked}
	if err := j.run(ctx, clone, wire.TaskBefore); err != nil {
		if errors.Is(err, errLate) { // the timeout is Claude Code's
			return fmt.Errorf("%s took more than %v", clone.name, wire.TaskBefore)
		}
		return err
	}
	release := j.reserve()
	j.result.Before = time.Since(begin).Seconds()
	ended := j.claude(ctx)
	release()
	begin = time.Now()
	defer func() { j.result.After = time.Since(begin).Seconds() }()
	if err := j.collect(ctx); err != nil {
		j.result.Trouble = cutText(err.Error(), maxReason)
		if ended == nil {
			return fmt.Errorf("the changes could not be collected: %w", err)
		}
	}
	if ended == nil {
		j.result.Outcome = wire.OutcomeFinished
	}
	return ended
}

func (j *job) readSettings() error {
	text, err := os.ReadFile(filepath.Join(j.Share, wire.TaskSettingsFile))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &j.settings); err != nil {
		return fmt.Errorf("read %s: %w", wire.TaskSettingsFile, err)
	}
	return checkSettings(j.settings)
}

// claude runs Claude Code. It returns nil only if Claude Code says that it is done.
func (j *job) claude(ctx context.Context) error {
	transcript := j.live(wire.ServiceTranscript, wire.MaxTranscript)
	log := j.live(wire.ServiceClaudeLog, wire.MaxClaudeLog)
	begin := time.Now()
	p := newProgress(j.lines, func() time.Duration { return time.Since(begin) })
	err := j.run(ctx, step{
		name: "Claude Code", line: claudeScript(j.settings), input: filepath.Join(j.Share, wire.TaskPromptFile),
		out: io.MultiWriter(transcript, p), err: log, asked: j.asked,
	}, time.Duration(j.settings.TimeoutSeconds)*time.Second)
	j.result.Seconds = time.Since(begin).Seconds()
	j.take(p)
	for _, file := range []*live{transcript, log} {
		if err := file.close(); err != nil {
			fmt.Fprintf(j.lines, "what Claude Code printed could not all be sent: %v\n", err)
		}
	}
	switch {
	case p.finished(): // its exit code, or an end that came too late, says no more
		return nil
	case errors.Is(err, errLate):
		return fmt.Errorf("Claude Code was stopped after %v: %w", time.Duration(j.settings.TimeoutSeconds)*time.Second, errLate)
	case err != nil && p.result != nil:
		return fmt.Errorf("Claude Code says %s: %w", p.result.Subtype, err)
	case err != nil:
		return err
	case p.result != nil:
		return fmt.Errorf("Claude Code says %s", p.result.Subtype)
	}
	return errors.New("Claude Code ended without a result")
}

// take puts what Claude Code said into the result.
func (j *job) take(p *progress) {
	j.result.Turns, j.result.LastMessage = p.turns, cutText(p.text, maxMessage)
	if r := p.result; r != nil {
		j.result.CostUSD = r.CostUSD
		j.result.Turns = max(r.Turns, 0)
		if strings.TrimSpace(r.Result) != "" {
			j.result.LastMessage = cutText(r.Result, maxMessage)
		}
	}
}

// live opens the stream of a file, of which limit bytes are sent. That it cannot
// be opened is told at its close: the task goes on without.
func (j *job) live(service string, limit int64) *live {
	stream, err := j.Open(service)
	if err != nil {
		return &live{capped: capped{err: err}}
	}
	return &live{capped{w: stream, left: limit}, stream}
}

func (j *job) create(name string, limit int64) (*capped, error) {
	f, err := os.OpenFile(filepath.Join(j.Work, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &capped{w: f, left: limit}, nil
}

// reserve takes some of the disk until the returned function is called. Where
// it cannot, the task goes on without.
func (j *job) reserve() (release func()) {
	path := filepath.Join(j.Work, "reserve")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return func() {}
	}
	_ = unix.Fallocate(int(f.Fd()), 0, 0, reserve)
	f.Close()
	return func() { _ = os.Remove(path) }
}

// collect commits what is left and makes the bundle, unless nothing changed.
func (j *job) collect(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, wire.TaskAfter, errors.New("the time for collecting is over"))
	defer cancel()
	out := &said{}
	err := j.run(ctx, step{name: "commit what is left", line: commitScript(j.settings), env: append(gitEnv(), committer()...), out: out}, wire.TaskAfter)
	if err != nil {
		return err
	}
	if j.result.Tip, j.result.Leftover, j.result.Squashed, err = parseCommit(string(out.text)); err != nil {
		return err
	}
	if j.result.Tip == j.settings.Start {
		return nil
	}
	bundle, err := j.create(wire.ChangesFile, wire.MaxChanges+1)
	if err != nil {
		return err
	}
	defer bundle.w.(*os.File).Close()
	err = j.run(ctx, step{name: "make the bundle", line: bundleScript(j.settings), env: gitEnv(), out: bundle}, wire.TaskAfter)
	switch {
	case err == nil && bundle.err != nil:
		err = fmt.Errorf("make the bundle: %w", bundle.err)
	case err == nil && bundle.left == 0:
		err = fmt.Errorf("the bundle is over the limit of %d bytes", int64(wire.MaxChanges))
	}
	if err != nil {
		_ = os.Remove(filepath.Join(j.Work, wire.ChangesFile))
	}
	return err
}
