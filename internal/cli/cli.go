// Package cli is aibox's command line: commands, flags, questions, and the one
// table from kinds of failure to exit codes. What a command does is done by the
// packages below; here it is only asked for and told.
//
// Output follows four rules. Stdout carries what was asked for and nothing
// else. Errors are one line "aibox: …" on stderr, in lower case, and a
// line "hint: …" that names the command or config line to use. Colour is only
// for a terminal, and not where NO_COLOR is set. Nobody is asked who has no
// terminal: such a command needs --yes, but for "tasks clean", which timers call.
package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"aibox/internal/cli/configcmd"
	"aibox/internal/cli/console"
	"aibox/internal/cli/exit"
	"aibox/internal/cli/projectscmd"
	"aibox/internal/cli/usage"
	"aibox/internal/fault"
	"aibox/internal/run/proxylog"

	"github.com/spf13/cobra"
)

// Stdio are the process's standard files.
type Stdio struct{ In, Out, Err *os.File }

// Main runs one command and returns the process's exit code. When ctx is
// done the command ends in order.
func Main(ctx context.Context, args []string, std Stdio) int {
	guardPrograms()
	if code, ok := child(ctx, args); ok {
		return code
	}
	return run(ctx, args, std, thisMachine())
}

// app is one command line being run.
type app struct {
	std     Stdio
	machine machine
	console.Console
	out  *console.Output // stdout
	exit int             // for success; only the command in a VM makes it other than 0
}

func newApp(std Stdio, m machine) *app {
	return &app{
		Console: console.Console{In: std.In, Err: std.Err, Lookup: m.lookup},
		std:     std, machine: m, out: &console.Output{To: std.Out},
	}
}

func run(ctx context.Context, args []string, std Stdio, m machine) int {
	a := newApp(std, m)
	root := a.root()
	if len(args) > 0 && args[0] == "help" { // as other programs have it
		args = append(slices.Clone(args[1:]), "--help")
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.out.Err()
	}
	if err != nil {
		if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
			err = context.Canceled // a signal's own text says no more
		}
		a.Report(err)
		return exit.Code(err)
	}
	return a.exit
}

// Commands returns all commands for the manual. They are not to be run.
func Commands() *cobra.Command {
	return newApp(Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, machine{build: build{Version: "devel"}, lookup: os.LookupEnv}).root()
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "aibox",
		Short: "Claude Code on a project, inside a small virtual machine",
		Long: `aibox boots a small virtual machine, shows it the current folder at /project and
starts Claude Code in it. The machine sees nothing else of your files and reaches
only the hosts that the project's config allows.`,
		Example:           "  cd ~/src/app && aibox run",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           a.machine.build.Version,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("aibox {{.Version}}\n")
	root.SetHelpTemplate(exit.HelpTemplate)
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
	root.SetOut(a.out)
	root.SetErr(a.std.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if n := (*strconv.NumError)(nil); errors.As(err, &n) {
			err = errors.New(strings.Replace(err.Error(), n.Error(), "it is no whole number", 1))
		}
		return fault.New(fault.Usage, cmd.CommandPath()+" --help lists the flags", "%w", err)
	})
	for _, add := range []func() *cobra.Command{
		a.runCommand, a.taskCommand, a.tasksCommand, a.demoCommand, a.configCommand, a.projectsCommand, a.imageCommand, a.doctorCommand, a.completionCommand, a.versionCommand,
	} {
		root.AddCommand(add())
	}
	prepare(root, a)
	return root
}

// prepare gives every command what all have: its exit codes in the help, and
// an error for what it does not know.
func prepare(cmd *cobra.Command, a *app) {
	if cmd.HasSubCommands() {
		cmd.Args = usage.Unknown
		if cmd.RunE == nil {
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	exit.Describe(cmd)
	for _, sub := range cmd.Commands() {
		prepare(sub, a)
	}
}

// noArgs is for commands that take none.
func noArgs(cmd *cobra.Command, args []string) error { return usage.NoArgs(cmd, args) }

func (a *app) projectsCommand() *cobra.Command {
	return projectscmd.Command(&projectscmd.Projects{Console: a.Console, Out: a.out, Place: a.place, NotRoot: a.notRoot, KeptHere: a.keptHere})
}

func (a *app) configCommand() *cobra.Command { return configcmd.Command(a.configs()) }

// configs is what the config's commands need.
func (a *app) configs() *configcmd.Configs {
	return &configcmd.Configs{Console: a.Console, Terminal: a.std.Out, Out: a.out, Here: a.here, Home: a.machine.home, Refused: proxylog.Refused}
}

// exits notes which kinds of failure a command can end in, for its help.
func exits(success string, kinds ...fault.Kind) map[string]string {
	return exit.Notes(success, kinds...)
}
