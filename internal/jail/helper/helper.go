// Package helper runs small jobs of aibox in short-lived copies of aibox that
// are confined to that job. They do what has to be done in folders that a
// virtual machine could write before: there a file may be a link that leads
// out, a FIFO that never answers, or configuration that names programs. Each
// copy may write one folder or none, has no network, sees no secret, is limited
// in time and memory, and gets its folder as an open file. Helpers run before
// aibox confines itself, since it can start nothing afterwards.
package helper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"aibox/internal/jail"
	"aibox/internal/plain"
	"aibox/internal/proc"
)

// Command is the hidden command, followed by a role's name, that makes a copy
// of aibox a helper. Package cli passes what follows it to Roles.Main.
const Command = "internal-helper"

// Role is one job.
type Role struct {
	// Prepare gets the call's folder and input and returns the policy under which
	// the work runs, in which FolderPath names the folder, and the work itself,
	// which writes its answer to out. The folder is open until the end.
	Prepare func(folder *os.File, input []byte) (jail.Policy, Work, error)
	// FileSize limits files that the work writes, in bytes.
	FileSize uint64
	// CPU (seconds), Memory (bytes) and Open (files) replace the usual limits
	// where they are not 0, for work that grows with the project.
	CPU, Memory, Open uint64
}

// Work is done under a role's policy.
type Work func(out io.Writer) error

// Roles are jobs by name.
type Roles map[string]Role

// Builtin returns the roles behind this package's functions.
func Builtin() Roles {
	return Roles{
		rolePutFile:  {Prepare: preparePut, FileSize: MaxFile},
		roleReadFile: {Prepare: prepareRead},
		roleGit:      {Prepare: prepareGit},
		roleRepo:     {Prepare: prepareRepo, FileSize: maxPack, CPU: repoCPU, Memory: repoMemory, Open: repoOpen},
	}
}

// Call asks for one job.
type Call struct {
	Role   string
	Input  any      // made JSON
	Folder *os.File // the one folder of the job; stays the caller's to close
	// More are further folders, which MorePath names; they stay the caller's too.
	More []*os.File
	// Lax is jail.Policy.Lax for the helper.
	Lax bool
	// Time limits the helper's life; 0 means 20 seconds.
	Time time.Duration
}

// Limits of a helper.
const (
	// MaxFile is the most that PutFile writes and ReadFile reads, in bytes.
	MaxFile = 4 << 20

	maxMessage = 2*MaxFile + 64<<10 // input or output: a file in base64 and its frame
	callTime   = 20 * time.Second
)

// request is what a helper reads from its standard input.
type request struct {
	Lax   bool
	Input json.RawMessage
}

// Exit statuses of a helper. Programs that it becomes have their own.
const (
	exitFailed  = 91
	exitMissing = 92 // as exitFailed; the error is fs.ErrNotExist
)

// Run does one job in a helper and returns its answer. An error of the job is
// returned with its own words, and wraps fs.ErrNotExist where it did there;
// one of a program that the helper became is a *proc.ExitError.
func Run(ctx context.Context, call Call) ([]byte, error) {
	out, err := run(ctx, call)
	if err != nil {
		return out, fmt.Errorf("helper %s: %w", call.Role, err)
	}
	return out, nil
}

func run(ctx context.Context, call Call) ([]byte, error) {
	if selfPath == "" {
		return nil, errNotYet()
	}
	input, err := json.Marshal(call.Input)
	if err != nil {
		return nil, err
	}
	message, err := json.Marshal(request{call.Lax, input})
	if err != nil {
		return nil, err
	}
	if len(message) > maxMessage {
		return nil, fmt.Errorf("input of %d bytes is over the limit of %d", len(message), maxMessage)
	}
	if call.Time == 0 {
		call.Time = callTime
	}
	ctx, cancel := context.WithTimeout(ctx, call.Time)
	defer cancel()
	child, in, out, err := start(call)
	if err != nil {
		return nil, err
	}
	// A helper that dies early breaks this pipe; its exit status says why.
	go func() {
		_, _ = in.Write(message)
		in.Close()
	}()
	answer := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(out, maxMessage+1))
		out.Close() // ends a helper that says too much
		answer <- b
	}()
	giveUp := func() ([]byte, error) {
		child.Kill()
		in.Close()
		out.Close()
		return nil, context.Cause(ctx)
	}
	select {
	case <-child.Done():
	case <-ctx.Done():
		return giveUp()
	}
	var b []byte
	select {
	case b = <-answer:
	case <-ctx.Done(): // what a helper left behind can hold its output open
		return giveUp()
	}
	if len(b) > maxMessage {
		return nil, fmt.Errorf("answer is over the limit of %d bytes", maxMessage)
	}
	return b, exitError(child.Err())
}

func errNotYet() error { return fmt.Errorf("not yet on %s", runtime.GOOS) }

// start starts the helper and returns the ends of its standard input and output.
func start(call Call) (*proc.Process, *os.File, *os.File, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	defer childIn.Close()
	out, childOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, nil, nil, err
	}
	defer childOut.Close()
	var hand proc.Handover
	hand.Give("folder", call.Folder)
	for i, more := range call.More {
		hand.Give(fmt.Sprintf("more %d", i), more)
	}
	child, err := proc.Start(proc.Cmd{
		Name: "helper " + call.Role, Path: selfPath, Args: []string{Command, call.Role},
		Env:   []string{"LANG=C", "PATH=/usr/bin:/bin"},
		Files: hand.Files(), Stdin: childIn, Stdout: childOut,
	})
	if err != nil {
		in.Close()
		out.Close()
		return nil, nil, nil, err
	}
	return child, in, out, nil
}

// exitError gives an error of the helper's own back in its own words. They may
// hold names that the virtual machine chose, so they are made plain.
func exitError(err error) error {
	exit := (*proc.ExitError)(nil)
	if !errors.As(err, &exit) {
		return err
	}
	switch exit.How {
	case fmt.Sprintf("exit status %d", exitFailed):
		return errors.New(plain.Line(exit.LastLine))
	case fmt.Sprintf("exit status %d", exitMissing):
		return fmt.Errorf("%s: %w", plain.Line(exit.LastLine), fs.ErrNotExist)
	}
	return err
}
