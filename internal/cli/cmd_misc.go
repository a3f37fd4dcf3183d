package cli

import (
	"encoding/json"
	"fmt"

	"aibox/internal/fault"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version [--json]",
		Short: "Print the version and which image belongs to it",
		Long: `Prints the version, the commit, and the digest that the VM's kernel must have. A build from
a checkout has no digest: it boots whatever image was built beside it.`,
		Example:     "  aibox version",
		Annotations: exits("the version was printed"),
		Args:        noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := a.machine.build
			if asJSON {
				encode := json.NewEncoder(a.out)
				encode.SetIndent("", "  ")
				return encode.Encode(b)
			}
			commit, kernel := b.Commit, "sha256:"+b.Kernel
			if commit == "" {
				commit = "unknown"
			}
			if b.Kernel == "" {
				kernel = "no digest is built in, since this is a build from a checkout"
			}
			fmt.Fprintf(a.out, "aibox %s\ncommit: %s\nbuilt:  %s for %s/%s\nkernel: %s\n", b.Version, commit, b.Go, b.OS, b.Arch, kernel)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script for a shell",
		Long:  "Prints a script that lets the shell complete aibox's commands and flags.",
		Example: `  aibox completion bash > ~/.local/share/bash-completion/completions/aibox
  aibox completion zsh > ~/.zfunc/_aibox
  aibox completion fish > ~/.config/fish/completions/aibox.fish
  aibox completion powershell >> $PROFILE`,
		Annotations: exits("the script was printed"),
		ValidArgs:   shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			const hint = "aibox completion bash, zsh, fish or powershell"
			if len(args) != 1 {
				return fault.New(fault.Usage, hint, "name one shell")
			}
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(a.out, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(a.out)
			case "fish":
				return cmd.Root().GenFishCompletion(a.out, true)
			case "powershell":
				return cmd.Root().GenPowerShellCompletionWithDesc(a.out)
			}
			return fault.New(fault.Usage, hint, "there is no completion for %q", args[0])
		},
	}
}
