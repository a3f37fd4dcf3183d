package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"aibox/internal/border/results"
	"aibox/internal/fault"
	"aibox/internal/wire"
)

// outputs take what comes back.
type outputs struct{ transcript, log, changes io.Writer }

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
	reserve(f.result, maxRecord/16)
	return f, nil
}

// ended is how the VM ended and what came of it.
type ended struct {
	results.Collected
	boot error // of the VM's run
	read error // of the tar that it sent
	live error // of what it sent while it worked

	sizes            map[string]int64 // bytes that were stored of each file
	reached, refused []string
}

// vm has the VM run and reports. Its own error is the task's.
func (j *job) vm(ctx context.Context, share *os.File) error {
	f, err := j.openFiles()
	if err = fullDisk(err, j.task.Dir); err != nil {
		j.lines.ownError(err.Error(), fault.HintOf(err))
		return err
	}
	e := j.boot(ctx, share, outputs{f.transcript, f.log, f.changes})
	return j.report(ctx, e, f.result)
}

// boot runs the VM beside a reader of its results. ctx's end only closes the
// VM's input; what ends the VM itself is the time.
func (j *job) boot(ctx context.Context, share *os.File, to outputs) (e ended) {
	vmCtx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), j.Timeout+stopAfter,
		fault.New(fault.Failed, "", "the VM did not end within %v after the timeout and was stopped", stopAfter))
	defer cancel()
	stdin, stop := io.Pipe()
	defer stop.Close()
	defer context.AfterFunc(ctx, func() {
		j.lines.Own("stopping Claude Code and collecting its work; once more stops all at once")
		_ = stop.Close()
	})()

	transcript := &results.Live{To: to.transcript, Limit: wire.MaxTranscript}
	log := &results.Live{To: to.log, Limit: wire.MaxClaudeLog}
	tar, sink := io.Pipe()
	read := make(chan struct{})
	go func() {
		defer close(read)
		e.Collected, e.read = results.Read(tar, results.Start{OID: j.start}, to.changes)
		_ = tar.CloseWithError(e.read) // ends a VM that sends wrong results
	}()
	said := &splitter{take: j.lines.vm}
	own := &splitter{take: func(line string) { j.lines.Own("%s", strings.TrimPrefix(line, "aibox: ")) }}
	boot := j.Boot(vmCtx, VM{
		Dir: j.folder.Path, Task: j.task, Share: share, Stdin: stdin, Results: sink, Said: said, Own: own,
		Transcript: transcript, ClaudeLog: log,
		Hosts: func(reached, refused []string) { e.reached, e.refused = reached, refused },
	})
	said.flush()
	own.flush()
	_ = sink.CloseWithError(io.EOF)
	<-read
	e.boot, e.sizes = fullDisk(boot, j.task.Dir), map[string]int64{wire.ChangesFile: e.Changes}
	e.take(wire.TranscriptFile, transcript)
	e.take(wire.ClaudeLogFile, log)
	return e
}

// take notes what came of a file that was sent while the VM worked.
func (e *ended) take(name string, live *results.Live) {
	size, err := live.End()
	e.sizes[name] = size
	if err != nil {
		e.live = errors.Join(e.live, fmt.Errorf("%s: %w", name, err))
	}
}

// problem says why the task did not finish, nil if it did. A disk that is full
// is why everything behind it failed.
func (e ended) problem(dir string) error {
	full := (*results.StoreError)(nil)
	switch early := errors.Is(e.read, io.ErrUnexpectedEOF); {
	case errors.As(e.read, &full), errors.As(e.live, &full):
		return fault.New(fault.Failed, "free some space: df -h "+fault.ShellQuote(dir), "the results could not all be stored: %w", errors.Join(e.live, e.read))
	case e.read != nil && early && e.boot != nil:
		return e.boot
	case e.read != nil:
		return fault.New(fault.Failed, "", "the VM sent wrong results: %w", e.read)
	case e.live != nil:
		return fault.New(fault.Failed, "", "the VM sent wrong results: %w", e.live)
	case e.Claim.Outcome != wire.OutcomeFinished:
		return fault.New(fault.Failed, "", "the task did not finish: the VM says %s", e.Claim.Outcome)
	}
	return nil // an error after the last result changes nothing
}

// began tells whether Claude Code did anything at all.
func (e ended) began() bool { return e.sizes[wire.TranscriptFile] > 0 || e.Claim != nil }
