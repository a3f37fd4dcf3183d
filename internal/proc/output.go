package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// MaxOutput is the most that Output returns, in bytes.
const MaxOutput = 1 << 20

// leftTime bounds the wait for the end of standard output after the program
// ended: a process that left the group may hold the pipe open for ever.
const leftTime = 3 * time.Second

// Output runs a short-lived program to its end and returns what it wrote to
// standard output. cmd.Stdout is ignored. More than MaxOutput bytes, an exit status
// other than 0, a process that it left with its output, and the end of ctx are
// errors, and the program has ended then.
func Output(ctx context.Context, cmd Cmd) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd.Stdout = w
	p, err := Start(cmd)
	w.Close()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, p.Kill)
	defer stop()
	go func() {
		<-p.Done()
		_ = r.SetReadDeadline(time.Now().Add(leftTime))
	}()
	out, readErr := io.ReadAll(io.LimitReader(r, MaxOutput+1))
	if len(out) > MaxOutput {
		p.Kill()
		return nil, fmt.Errorf("%s printed more than %d bytes", cmd.Name, MaxOutput)
	}
	<-p.Done()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", cmd.Name, err)
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	if errors.Is(readErr, os.ErrDeadlineExceeded) {
		return nil, fmt.Errorf("%s left a process that holds its output open", cmd.Name)
	}
	return out, readErr
}

// Look finds a program by its name in aibox's PATH and returns its absolute
// path. A PATH entry that is not absolute is an error, as in os/exec.
func Look(name string) (string, error) { return exec.LookPath(name) }
