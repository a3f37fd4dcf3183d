// Package exit is the one table from kinds of failure to exit codes, and what
// the help says of them.
package exit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"aibox/internal/fault"

	"github.com/spf13/cobra"
)

// Interrupted is the exit code after SIGINT or SIGTERM.
const Interrupted = 130

// Codes is the table. The codes are part of the interface: scripts rely on them.
func Codes() map[fault.Kind]int {
	return map[fault.Kind]int{
		fault.Failed:  1,
		fault.Usage:   2,
		fault.Config:  3,
		fault.Machine: 4,
		fault.Refused: 5,
	}
}

// Code returns the exit code for an error.
func Code(err error) int {
	if errors.Is(err, context.Canceled) && fault.KindOf(err) == fault.Failed {
		return Interrupted
	}
	if code, ok := Codes()[fault.KindOf(err)]; ok {
		return code
	}
	return 1
}

// kindMeaning says in the help what each kind of failure is.
func kindMeaning(k fault.Kind) string {
	switch k {
	case fault.Usage:
		return "the command line is wrong"
	case fault.Config:
		return "the project's config is wrong"
	case fault.Machine:
		return "this machine lacks something, such as a program or disk space"
	case fault.Refused:
		return "refused for your safety"
	}
	return "it failed"
}

// Annotation is the name of the annotation that holds a command's codes.
const Annotation = "exit"

// Notes notes which kinds of failure a command can end in, for its help.
// Usage is always one.
func Notes(success string, kinds ...fault.Kind) map[string]string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %-5d%s\n", 0, success)
	codes := Codes()
	for k := fault.Failed; k <= fault.Refused; k++ {
		listed := k == fault.Usage
		for _, kind := range kinds {
			listed = listed || kind == k
		}
		if listed {
			fmt.Fprintf(&b, "  %-5d%s\n", codes[k], kindMeaning(k))
		}
	}
	fmt.Fprintf(&b, "  %-5dinterrupted", Interrupted)
	return map[string]string{Annotation: b.String()}
}

// Describe gives commands that only hold others the shortest list.
func Describe(cmd *cobra.Command) {
	if cmd.Annotations[Annotation] == "" {
		cmd.Annotations = Notes("success")
	}
}

// HelpTemplate is cobra's template of every command's help.
const HelpTemplate = `{{with or .Long .Short}}{{. | trimTrailingWhitespaces}}{{end}}

Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} COMMAND{{else}}{{.UseLine}}{{end}}
{{if .HasAvailableSubCommands}}
Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{with .Example}}
Example:
{{.}}
{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}
Exit codes:
{{index .Annotations "exit"}}
`
