package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// SessionCommand is the hidden command that makes a copy of aibox run a Request.
const SessionCommand = "internal-session"

// Numbers of the files that a session's copy inherits.
const (
	requestFile = 3
	reportFile  = 4
)

// childGrace is how long a copy that was asked to end may take to stop its VM.
const childGrace = stopGrace + 5*time.Second

// InCopy runs the request in a copy of this program, since a run confines its
// process for good. The copy ends when ctx ends and when this process does. Stdin is empty.
func InCopy(ctx context.Context, q Request, stdout, stderr io.Writer) (exit int, report Report, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, Report{}, fmt.Errorf("find this program: %w", err)
	}
	requestR, requestW, err := os.Pipe()
	if err != nil {
		return 0, Report{}, err
	}
	defer requestW.Close()
	reportR, reportW, err := os.Pipe()
	if err != nil {
		requestR.Close()
		return 0, Report{}, err
	}
	defer reportR.Close()
	cmd := exec.CommandContext(ctx, self, SessionCommand)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.ExtraFiles = []*os.File{requestR, reportW}
	// closing the request's pipe asks the copy to end, on every system
	cmd.Cancel, cmd.WaitDelay = requestW.Close, childGrace
	err = cmd.Start()
	requestR.Close()
	reportW.Close()
	if err != nil {
		return 0, Report{}, fmt.Errorf("start a copy of aibox: %w", err)
	}
	q.Report = reportFile
	if err := json.NewEncoder(requestW).Encode(q); err != nil {
		_ = cmd.Process.Kill()
		return 0, Report{}, errors.Join(fmt.Errorf("send the request: %w", err), cmd.Wait())
	}
	// nothing to decode means that the copy failed before there was a VM
	_ = json.NewDecoder(io.LimitReader(reportR, maxRequest)).Decode(&report)
	err = cmd.Wait()
	if exited := (*exec.ExitError)(nil); errors.As(err, &exited) && exited.Exited() {
		err = nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return cmd.ProcessState.ExitCode(), report, err
}

// Session is the copy's side: it runs the request it was sent until it ends or
// the program that sent it closes the pipe.
func Session(ctx context.Context) (int, error) {
	pipe := os.NewFile(requestFile, "request")
	o, err := ReadRequest(pipe)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		_, _ = io.Copy(io.Discard, pipe)
		cancel(errors.New("the program that asked for the VM has ended"))
	}()
	return Run(ctx, o)
}
