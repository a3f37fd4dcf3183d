package cli

import (
	"context"
	"os"

	"aibox/internal/cli/exit"
	"aibox/internal/jail/helper"
	vmrun "aibox/internal/run"
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
		{vmrun.SessionCommand, session},
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
