package cli

import (
	"context"
	"io"
	"net/url"
	"os"

	"aibox/internal/cli/exit"
	"aibox/internal/jail/helper"
	"aibox/internal/pasteboard"
	vmrun "aibox/internal/run"
	vmshares "aibox/internal/share/ninep/helper"
)

// role is a helper that aibox starts as a copy of itself, for work that is done
// under stricter rules than aibox's own. It is named by the first argument, which
// no command's name can be, and it is in no help.
type role struct {
	name string
	// run does the work with the arguments behind the name and returns the
	// exit code. It talks to its parent by the open files it was given.
	run func(ctx context.Context, args []string) int
}

// roles is every helper, so that all entry points of the program that are not
// commands are seen in one place.
func roles() []role {
	return []role{
		{helper.Command, func(_ context.Context, args []string) int { return helper.Builtin().Main(args) }},
		{vmshares.Command, func(_ context.Context, args []string) int { return vmshares.Main(args) }},
		{pasteboard.Command, func(context.Context, []string) int { return pasteboard.Main() }},
		{vmrun.SessionCommand, session},
		{UpstreamCommand, withUpstream},
	}
}

// session runs a VM for the demo and for tests: a run confines its process, so
// it needs one of its own.
func session(ctx context.Context, _ []string) int {
	a := newApp(Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, thisMachine())
	err := a.notRoot()
	code := 0
	if err == nil {
		code, err = vmrun.Session(ctx)
	}
	if err != nil {
		a.Report(err)
		return exit.Code(err)
	}
	return code
}

// UpstreamCommand is the hidden command that runs the command line behind it with
// another Claude API, whose URL is in the file 3 that it inherits. The tests of
// the real VM use it: neither a flag nor the config can name another API.
const UpstreamCommand = "internal-upstream"

// maxUpstream bounds a URL in bytes.
const maxUpstream = 1000

func withUpstream(ctx context.Context, args []string) int {
	std := Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	host := thisMachine()
	pipe := os.NewFile(3, "upstream")
	text, err := io.ReadAll(io.LimitReader(pipe, maxUpstream))
	var upstream *url.URL
	if err == nil {
		upstream, err = url.Parse(string(text))
	}
	if err != nil {
		newApp(std, host).Report(err)
		return exit.Code(err)
	}
	host.runVM = func(ctx context.Context, o vmrun.Options) (int, error) {
		o.Upstream = upstream
		return vmrun.Run(ctx, o)
	}
	return run(ctx, args, std, host)
}

// child runs the helper that the arguments name, if they name one.
func child(ctx context.Context, args []string) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	for _, r := range roles() {
		if r.name == args[0] {
			return r.run(ctx, args[1:]), true
		}
	}
	return 0, false
}
