package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"aibox/internal/fault"
	"aibox/internal/wire"
)

// Runner boots a VM on a project, runs one command in it, and returns when the
// VM is gone and all output was written. It must end soon after ctx is done.
type Runner func(ctx context.Context, request RunRequest) (RunResult, error)

// RunRequest is what the demo needs of a VM.
type RunRequest struct {
	// Dir is the project's folder on the host.
	Dir string
	// Command runs in the project's folder in the VM, without a terminal and
	// with an empty stdin. Claude Code is its first word, "claude".
	Command []string
	// Upstream is the base URL of the API for the key forwarder, on the host's
	// loopback, and Key the key it adds. Neither may be known in the VM.
	Upstream string
	Key      string
	// AllowPort is the one port of 127.0.0.1 on the host that the VM may reach.
	// No other host may be allowed.
	AllowPort int
	// Stdout and Stderr take the command's output.
	Stdout, Stderr io.Writer
}

// RunResult is how the command ended.
type RunResult struct {
	Exit int
	// Reached and Refused are the hosts that the proxy connected and refused,
	// as host:port.
	Reached, Refused []string
	// Refusals are the lines that the proxy answered with, by Refused.
	Refusals []string
	// Logs is the folder of this run's logs, empty when they are gone.
	Logs string
}

// Options are the demo's arguments.
type Options struct {
	Run Runner
	// Out takes the steps, the diff and the verdict.
	Out io.Writer
	// Timeout bounds the demo; 0 means DefaultTimeout.
	Timeout time.Duration

	// testOnlyHost makes the script use the project's path on the host.
	testOnlyHost bool
}

// Run shows the demo. It returns nil only if every step was seen, in which case
// the last line of Out is "demo passed". Errors name the step that failed and
// carry a hint; the runner's own errors are passed on. It leaves nothing behind.
func Run(ctx context.Context, o Options) error {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	dir, err := os.MkdirTemp("", "aibox-demo-")
	if err != nil {
		return fault.New(fault.Machine, "check the folder that TMPDIR names", "make the sample project: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := WriteSample(dir); err != nil {
		return fault.New(fault.Machine, "check the free space of "+os.TempDir(), "%w", err)
	}
	fmt.Fprint(o.Out, "The VM, Claude Code and the network rules are real; the replies of Claude are scripted.\n\n")
	b := newBoard(o.Out, time.Now)
	result, err := runScript(ctx, o, dir, b)
	if err != nil {
		return err
	}
	return verdict(o.Out, b, dir, result)
}

// runScript serves the API and the page while the command runs.
func runScript(ctx context.Context, o Options, dir string, b *board) (RunResult, error) {
	key, token := "sk-ant-aibox-demo-"+rand.Text(), rand.Text()
	site, err := serve(page(token, func() { b.saw(HostReached, byPage) }))
	if err != nil {
		return RunResult{}, fault.New(fault.Machine, "check the loopback interface", "%w", err)
	}
	defer site.close()
	guestDir := wire.GuestProject
	if o.testOnlyHost {
		guestDir = dir
	}
	sc := newScript(guestDir, site.url()+"/", token)
	api, err := serve(&API{key: key, script: sc, report: b.answered})
	if err != nil {
		return RunResult{}, fault.New(fault.Machine, "check the loopback interface", "%w", err)
	}
	defer api.close()

	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, errTimeout)
	defer cancel()
	stderr := &tail{}
	result, err := o.Run(ctx, RunRequest{
		Dir: dir,
		Command: []string{"claude", "--print", "--verbose", "--output-format", "stream-json",
			"--permission-mode", "bypassPermissions", Prompt},
		Upstream: api.url(), Key: key, AllowPort: site.addr.Port,
		Stdout: newStream(b, sc), Stderr: stderr,
	})
	if errors.Is(context.Cause(ctx), errTimeout) {
		return RunResult{}, late(b, o.Timeout, stderr.String())
	}
	if err != nil {
		return RunResult{}, fmt.Errorf("run the demo's VM: %w", err)
	}
	checkRun(b, dir, site.addr.Port, result, stderr.String())
	return result, nil
}

var errTimeout = errors.New("the demo's time is over")

// late says where the demo hung.
func late(b *board, after time.Duration, stderr string) error {
	where, hint := "", Ended.info().hint
	if list := b.missed(); len(list) > 0 {
		where, hint = fmt.Sprintf("%s: %s", list[0].step, list[0].why), list[0].step.info().hint
	}
	if stderr != "" {
		where += "; last message of Claude Code: " + stderr
	}
	return fault.New(fault.Failed, hint, "the demo did not end in %v; what it waited for: %s", after, where)
}
