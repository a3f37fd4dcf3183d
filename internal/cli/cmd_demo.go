package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"aibox/demo"
	"aibox/internal/config"
	"aibox/internal/fault"
	"aibox/internal/project"
	vmrun "aibox/internal/run"

	"github.com/spf13/cobra"
)

func (a *app) demoCommand() *cobra.Command {
	d := demoVM{app: a}
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "demo [flags]",
		Short: "See Claude Code mend a sample project in a VM, and test this machine",
		Long: `Boots the VM on a throwaway sample project and runs the real Claude Code in it. The replies of
Claude come from a script in aibox, so that no account and no network are needed. Each step
is printed with its time; "demo passed" is the last line only if every step was seen.`,
		Example:     "  aibox demo",
		Annotations: exits("the demo passed", fault.Failed, fault.Machine, fault.Refused),
		Args:        noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.notRoot(); err != nil {
				return err
			}
			if err := a.kernelIsNew(); err != nil {
				return err
			}
			return demo.Run(cmd.Context(), demo.Options{Run: d.run, Out: a.out, Timeout: timeout})
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.image, "image", "", "boot vmlinuz and os.ext4 from this `folder`, unchecked")
	f.BoolVar(&d.noSandbox, "no-sandbox", false, "run QEMU without bubblewrap, for debugging")
	f.BoolVar(&d.timings, "timings", false, "print how long each phase of the start took")
	f.DurationVar(&timeout, "timeout", demo.DefaultTimeout, "give up after this `time`")
	return cmd
}

// demoVM runs the demo's command in a VM whose state is apart from the user's:
// their projects, config and login have no part in the demo.
type demoVM struct {
	app                *app
	image              string
	noSandbox, timings bool
}

func (d *demoVM) run(ctx context.Context, q demo.RunRequest) (result demo.RunResult, err error) {
	state, err := os.MkdirTemp("", "aibox-demo-state-")
	if err != nil {
		return result, fault.New(fault.Machine, "check the folder that TMPDIR names", "make a place for the demo's VM: %w", err)
	}
	kept, err := prepareDemo(state, q)
	if err != nil {
		return result, errors.Join(err, os.RemoveAll(state))
	}
	result, err = d.session(ctx, state, q)
	if err == nil && result.Exit != 0 {
		result.Logs = kept.Dir // what a demo that failed leaves behind, on purpose
		return result, nil
	}
	return result, errors.Join(err, kept.Remove(context.WithoutCancel(ctx)), os.RemoveAll(state))
}

// prepareDemo writes a config that allows the one port and keeps the key outside.
func prepareDemo(state string, q demo.RunRequest) (project.Kept, error) {
	place, err := project.NewPlace(state)
	if err != nil {
		return project.Kept{}, err
	}
	folder, err := place.OpenProject(q.Dir)
	if err != nil {
		return project.Kept{}, err
	}
	folder.Dir.Close()
	kept := place.Kept(folder.Path)
	if err := kept.Create(); err != nil {
		return kept, err
	}
	text := fmt.Sprintf("allow: [\"127.0.0.1:%d\"]\nenv: [%s]\n"+
		"skills: false\nagents: false\ncommands: false\nclaude-md: false\nsettings: false\n", q.AllowPort, config.APIKeyName)
	return kept, config.Write(kept.Config(), []byte(text))
}

func (d *demoVM) session(ctx context.Context, state string, q demo.RunRequest) (result demo.RunResult, err error) {
	words := make([]string, len(q.Command))
	for i, w := range q.Command {
		words[i] = fault.ShellQuote(w)
	}
	said := &lastLines{}
	exit, report, err := d.app.machine.copyVM(ctx, vmrun.Request{
		Dir: q.Dir, Home: d.app.machine.home, State: state, Image: d.image, Command: strings.Join(words, " "),
		NoSandbox: d.noSandbox, Timings: d.timings, Upstream: q.Upstream, APIKey: q.Key,
	}, q.Stdout, io.MultiWriter(q.Stderr, said))
	if err != nil {
		return result, err
	}
	if d.timings {
		for _, line := range said.timings() {
			fmt.Fprintln(d.app.std.Err, line)
		}
	}
	if err := said.failure(exit); err != nil {
		return result, err
	}
	return demo.RunResult{Exit: exit, Reached: report.Reached, Refused: report.Refused, Refusals: report.Refusals}, nil
}
