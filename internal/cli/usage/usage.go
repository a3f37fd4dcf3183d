// Package usage checks command lines the same way for all commands.
package usage

import (
	"aibox/internal/fault"

	"github.com/spf13/cobra"
)

// NoArgs is for commands that take no argument.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fault.New(fault.Usage, cmd.CommandPath()+" --help shows the usage", "%s takes no argument, but got %q", cmd.CommandPath(), args[0])
}

// Unknown is for commands that only hold others: an argument is the name of
// none of them.
func Unknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help lists the commands"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + near[0] + "?"
	}
	return fault.New(fault.Usage, hint, "unknown command %q", args[0])
}
