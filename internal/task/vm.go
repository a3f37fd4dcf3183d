package task

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"aibox/internal/border/results"
	"aibox/internal/fault"
	"aibox/internal/wire"
)

// files are the task's files of results, open before the VM runs: afterwards
// aibox can open none.
type files struct{ transcript, log, changes, result *os.File }

func (j *job) openFiles() (f files, err error) {
	for _, x := range []struct {
		name string
		to   **os.File
	}{
		{wire.TranscriptFile, &f.transcript}, {wire.ClaudeLogFile, &f.log}, {wire.ChangesFile, &f.changes}, {wire.ResultFile, &f.result},
	} {
		if *x.to, err = j.task.CreateFile(x.name); err != nil {
			return f, err
		}
		j.undo = append(j.undo, func() { (*x.to).Close() })
	}
	return f, nil
}

// ended is how the VM ended and what came of it.
type ended struct {
	results.Collected
	boot error // of the VM's run
	read error // of what it sent

	reached, refused []string
}

// vm has the VM run and reports. Its own error is the task's.
func (j *job) vm(ctx context.Context, share *os.File) error {
	f, err := j.openFiles()
	if err != nil {
		j.lines.ownError(err.Error(), fault.HintOf(err))
		return err
	}
	e := j.boot(ctx, share, f)
	return j.report(ctx, e, f.result)
}

// boot runs the VM beside a reader of its results. ctx's end only closes the
// VM's input; what ends the VM itself is the time.
func (j *job) boot(ctx context.Context, share *os.File, f files) (e ended) {
	vmCtx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), j.Timeout+stopAfter,
		fault.New(fault.Failed, "", "the VM did not end within %v after the timeout and was stopped", stopAfter))
	defer cancel()
	stdin, stop := io.Pipe()
	defer stop.Close()
	defer context.AfterFunc(ctx, func() {
		j.lines.Own("stopping Claude Code and collecting its work; once more stops all at once")
		_ = stop.Close()
	})()

	tar, sink := io.Pipe()
	read := make(chan struct{})
	go func() {
		defer close(read)
		e.Collected, e.read = results.Read(tar, results.Start{OID: j.start}, results.Files{Transcript: f.transcript, ClaudeLog: f.log, Changes: f.changes})
		_ = tar.CloseWithError(e.read) // ends a VM that sends wrong results
	}()
	said := &splitter{take: j.lines.vm}
	own := &splitter{take: func(line string) { j.lines.Own("%s", strings.TrimPrefix(line, "aibox: ")) }}
	boot := j.Boot(vmCtx, VM{
		Dir: j.folder.Path, Task: j.task, Share: share, Stdin: stdin, Results: sink, Said: said, Own: own,
		Hosts: func(reached, refused []string) { e.reached, e.refused = reached, refused },
	})
	said.flush()
	own.flush()
	_ = sink.CloseWithError(io.EOF)
	<-read
	e.boot = boot
	return e
}

// problem says why the task did not finish, nil if it did.
func (e ended) problem() error {
	full := (*results.StoreError)(nil)
	switch early := errors.Is(e.read, io.ErrUnexpectedEOF); {
	case errors.As(e.read, &full):
		return fault.New(fault.Failed, "free some space: df -h ~/.aibox", "the results could not be stored: %w", e.read)
	case e.read != nil && early && e.boot != nil:
		return e.boot
	case e.read != nil:
		return fault.New(fault.Failed, "", "the VM sent wrong results: %w", e.read)
	case e.Claim.Outcome != wire.OutcomeFinished:
		return fault.New(fault.Failed, "", "the task did not finish: the VM says %s", e.Claim.Outcome)
	}
	return nil // an error after the last result changes nothing
}
