package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"aibox/internal/cli/console"
	"aibox/internal/cli/exit"
	"aibox/internal/doctor"
	"aibox/internal/fault"
	vmrun "aibox/internal/run"
	"aibox/internal/task"
	"aibox/internal/task/prompt"

	"github.com/spf13/cobra"
)

// taskFlags are those of "aibox task" that are not the task's own.
type taskFlags struct {
	file, timeout string
	vm            vmrun.Options
}

func (a *app) taskCommand() *cobra.Command {
	o := task.Options{Home: a.machine.home, Dir: ".", Lookup: a.machine.lookup, Stdout: a.out, Stderr: a.std.Err, Now: time.Now}
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "task [flags] [PROMPT…]",
		Short: "Have Claude Code work on a commit unattended, and get its commits back",
		Long: `Boots a VM with a clone of a commit of the repository in the current folder, runs Claude
Code in it without asking anything, and brings its commits back as a git bundle to review.
The folder, its branches and its index stay as they are.

The prompt is the arguments, then the file of --file, or stdin where there is neither.
Claude Code needs a login: ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN in the config's env.

Stdout has the path of the task's folder only, or with --json one event a line. On stderr,
"aibox[ID]" are aibox's own words, and "vm[ID]" is what the VM says. Ctrl+C stops Claude
Code and brings back its work so far; a second one ends all at once.`,
		Example: `  aibox task "Mend the failing tests"
  aibox task --from main --timeout 3h --file plan.md
  git diff | aibox task "Review this change, and write the tests it lacks" --file -`,
		Annotations: exits("Claude Code finished and its work is back", fault.Failed, fault.Config, fault.Machine, fault.Refused),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.task(cmd, args, o, f)
			if told := (*task.ToldError)(nil); errors.As(err, &told) {
				a.exit = exit.Code(told.Err)
				return nil
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.From, "from", "HEAD", "start at this `revision`")
	flags.StringVarP(&f.file, "file", "f", "", "read the prompt from this `path`, - for stdin")
	flags.StringVar(&o.Model, "model", "", "`name` of Claude Code's model (default: Claude Code's)")
	flags.IntVar(&o.MaxTurns, "max-turns", 0, "stop Claude Code after this `number` of turns")
	flags.Float64Var(&o.MaxBudgetUSD, "max-budget-usd", 0, "have Claude Code stop after about this `amount`")
	flags.StringVar(&f.timeout, "timeout", "1h", "stop Claude Code after this `time`, at most 30d")
	flags.BoolVar(&o.Plan, "plan", false, "print first what the task may reach, as at a project's first task")
	flags.BoolVar(&o.JSON, "json", false, "print events as JSON, one a line")
	flags.IntVar(&f.vm.Memory, "memory", 0, "the VM's memory in `MiB` (default: the config's, or 2048)")
	flags.IntVar(&f.vm.CPUs, "cpus", 0, "the VM's `number` of CPUs (default: the config's, or 2)")
	flags.StringVar(&f.vm.Image, "image", "", "boot vmlinuz and os.ext4 from this `folder`, unchecked")
	flags.BoolVar(&f.vm.NoSandbox, "no-sandbox", false, "run QEMU without bubblewrap, for debugging")
	flags.BoolVar(&f.vm.Lax, oldKernelFlag, false, "go on where the kernel is too old to confine aibox; what is lost is printed")
	return cmd
}

func (a *app) task(cmd *cobra.Command, args []string, o task.Options, f taskFlags) error {
	if err := a.notRoot(); err != nil {
		return err
	}
	if err := checkSize(cmd, f.vm.Memory, f.vm.CPUs); err != nil {
		return err
	}
	var err error
	if o.Timeout, err = task.ParseDuration(f.timeout); err != nil {
		return err
	}
	if err := o.Limits.Check(); err != nil {
		return err
	}
	if !f.vm.Lax {
		if err := doctor.OldKernel(a.machine.kernel); err != nil {
			return err
		}
	}
	if err := a.imageIsThere(f.vm.Image); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fault.New(fault.Refused, "change into the project's folder again: cd /path/to/project", "the current folder is gone: %w", err)
	}
	o.Prompt, err = prompt.Read(cmd.Context(), prompt.Source{
		Args: args, File: f.file, Stdin: a.std.In, Terminal: console.IsTerminal(a.std.In), Dir: dir,
	})
	if err != nil {
		return err
	}
	o.Lax = f.vm.Lax
	o.Boot = func(ctx context.Context, vm task.VM) error {
		_, err := a.machine.runVM(ctx, f.options(vm))
		return err
	}
	return task.Run(cmd.Context(), o)
}

// options are the run that a task asks for.
func (f taskFlags) options(vm task.VM) vmrun.Options {
	o := f.vm
	o.Dir, o.Task = vm.Dir, &vmrun.Task{Folder: vm.Task, Share: vm.Share, Transcript: vm.Transcript, ClaudeLog: vm.ClaudeLog}
	o.Report = func(r vmrun.Report) { vm.Hosts(r.Reached, r.Refused) }
	o.Stdin, o.Stdout, o.SessionStderr, o.Stderr = vm.Stdin, vm.Results, vm.Said, vm.Own
	return o
}
