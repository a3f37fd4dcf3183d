package configcmd

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"aibox/internal/cli/console"
	"aibox/internal/cli/exit"
	"aibox/internal/cli/usage"
	"aibox/internal/config"
	"aibox/internal/fault"

	"github.com/spf13/cobra"
)

func (c *Configs) configEdit() *cobra.Command {
	var editor string
	cmd := &cobra.Command{
		Use:        "edit [--editor COMMAND]",
		SuggestFor: []string{"set"},
		Short:      "Open the config in an editor and check it",
		Long: `Opens the config in the editor that --editor names, else $VISUAL, else $EDITOR, else vi,
and checks it when the editor ends. On a terminal it offers to open it again after a mistake.`,
		Example: `  aibox config edit
  aibox config edit --editor 'code --wait'`,
		Annotations: exit.Notes("the config has no mistake", fault.Failed, fault.Config, fault.Machine, fault.Refused),
		Args:        usage.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := c.created()
			if err != nil {
				return err
			}
			if info, err := os.Stat(k.Config()); err == nil && !info.Mode().IsRegular() {
				_, err := config.Load(k.Config()) // which says what it is
				return err
			}
			if editor == "" {
				if editor, err = c.editor(); err != nil {
					return err
				}
			}
			return c.edit(cmd.Context(), editor, k.Config())
		},
	}
	cmd.Flags().StringVar(&editor, "editor", "", "the editor's `command`, read by the shell")
	return cmd
}

// editor follows git's order. An editor that needs a screen is no use on a dumb
// terminal, so VISUAL and vi are for others.
func (c *Configs) editor() (string, error) {
	visual, _ := c.Lookup("VISUAL")
	plain, _ := c.Lookup("EDITOR")
	kind, _ := c.Lookup("TERM")
	dumb := kind == "" || kind == "dumb"
	if dumb {
		visual = ""
	}
	if found := cmp.Or(visual, plain); found != "" {
		return found, nil
	}
	if dumb || !console.IsTerminal(c.In) {
		return "", fault.New(fault.Usage, "set EDITOR, or name one that needs no terminal with --editor", "there is no terminal for vi, and $EDITOR is not set")
	}
	return "vi", nil
}

// edit runs the editor and checks the file until it is right or the user stops.
func (c *Configs) edit(ctx context.Context, editor, path string) error {
	for {
		interrupted, err := c.runEditor(editor, path)
		if err != nil {
			return err
		}
		if interrupted {
			ctx = context.WithoutCancel(ctx) // it was meant for the editor
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		_, err = config.Load(path)
		if err == nil || !console.IsTerminal(c.In) {
			return err
		}
		c.Report(err)
		again, askErr := c.Confirm(ctx, true, "Open it again?")
		if askErr != nil {
			return askErr
		}
		if !again {
			return fault.New(fault.Config, "aibox config edit opens it again", "the config still has mistakes; no run starts with it")
		}
	}
}

// runEditor lets the shell read the command, so that it may have arguments, as
// git and others do. The path is passed beside it and is never read as code.
//
// The editor has the terminal, so Ctrl+C is a key of the editor: aibox, which
// gets the same signal, must neither end nor take the editor with it.
func (c *Configs) runEditor(editor, path string) (interrupted bool, err error) {
	keys := make(chan os.Signal, 1)
	signal.Notify(keys, os.Interrupt, syscall.SIGQUIT)
	defer signal.Stop(keys)
	cmd := exec.Command("sh", "-c", editor+` "$@"`, editor, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.In, c.Err, c.Err
	if console.IsTerminal(c.Terminal) {
		cmd.Stdout = c.Terminal
	}
	if err := cmd.Run(); err != nil {
		hint := "name another one with --editor, $VISUAL or $EDITOR"
		const notFound = 127 // a shell's exit code
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == notFound {
			hint = "the shell did not find it: quote a path that has spaces, such as --editor \"'/opt/my editor/bin/edit' --wait\""
		}
		return false, fault.New(fault.Failed, hint, "the editor %q: %w", editor, err)
	}
	signal.Stop(keys) // waits for what is on its way
	return len(keys) > 0, nil
}
