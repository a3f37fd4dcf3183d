package cli

import (
	"aibox/internal/config"
	"aibox/internal/fault"
	vmrun "aibox/internal/run"

	"aibox/internal/cli/console"
	"github.com/spf13/cobra"
)

func (a *app) runCommand() *cobra.Command {
	o := vmrun.Options{Terminal: true, Stdin: a.std.In, Stdout: a.std.Out, Stderr: a.std.Err}
	cmd := &cobra.Command{
		Use:        "run [flags]",
		SuggestFor: []string{"start", "up", "shell", "claude", "code"},
		Short:      "Start Claude Code in a VM on the project in the current folder",
		Long: `Boots a VM that sees the current folder at /project, and starts Claude Code in it. What
it edits appears in the folder at once. The first run writes the project's config,
which "aibox config path" names, and offers the hosts that the project's files speak of.

Ctrl+C goes to the program in the VM. The exit code is that program's own; the codes
below are aibox's, when the VM could not be started or broke.`,
		Example: `  aibox run
  aibox run --shell
  aibox run --memory 4096 --cpus 4`,
		Annotations: exits("the program in the VM ended with 0", fault.Failed, fault.Config, fault.Machine, fault.Refused),
		Args:        noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.readyToRun(cmd, o); err != nil {
				return err
			}
			if err := a.configs().AtFirst(cmd.Context()); err != nil {
				return err
			}
			var err error
			a.exit, err = a.machine.runVM(cmd.Context(), o)
			if fault.KindOf(err) == fault.Machine && fault.HintOf(err) == "" {
				return fault.New(fault.Machine, "aibox doctor checks what this machine lacks", "%w", err)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Shell, "shell", false, "start a shell instead of Claude Code")
	f.StringVar(&o.Resume, "resume", "", "continue the Claude Code session with this `id`")
	f.IntVar(&o.Memory, "memory", 0, "the VM's memory in `MiB` (default: the config's, or 2048)")
	f.IntVar(&o.CPUs, "cpus", 0, "the VM's `number` of CPUs (default: the config's, or 2)")
	f.StringVar(&o.Image, "image", "", "boot vmlinuz and os.ext4 from this `folder`, unchecked")
	f.BoolVar(&o.NoSandbox, "no-sandbox", false, "run QEMU without bubblewrap, for debugging")
	f.BoolVar(&o.Lax, oldKernelFlag, false, "go on where the kernel is too old to confine aibox; what is lost is printed")
	f.BoolVar(&o.Timings, "timings", false, "print how long each phase of the start took")
	return cmd
}

// readyToRun refuses a run that cannot or must not be, before anything is opened.
func (a *app) readyToRun(cmd *cobra.Command, o vmrun.Options) error {
	if err := checkSize(cmd, o.Memory, o.CPUs); err != nil {
		return err
	}
	if err := a.notRoot(); err != nil {
		return err
	}
	if !console.IsTerminal(a.std.In) {
		return fault.New(fault.Usage, "start it in a terminal, with nothing piped or redirected into it",
			"aibox run needs a terminal on stdin")
	}
	if o.Lax {
		return nil
	}
	return a.kernelIsNew()
}

// checkSize checks the flags that were given; 0 is no way to ask for the default.
func checkSize(cmd *cobra.Command, memory, cpus int) error {
	if cmd.Flags().Changed("memory") {
		if err := config.CheckMemory(memory); err != nil {
			return fault.New(fault.Usage, "give MiB, such as --memory 2048", "--%w", err)
		}
	}
	if cmd.Flags().Changed("cpus") {
		if err := config.CheckCPUs(cpus); err != nil {
			return fault.New(fault.Usage, "give a number, such as --cpus 2", "--%w", err)
		}
	}
	return nil
}
