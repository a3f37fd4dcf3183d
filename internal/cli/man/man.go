// Package man writes manual pages of commands from what their help says.
package man

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aibox/internal/cli/exit"

	"github.com/spf13/cobra"
)

// Page is one manual page.
type Page struct {
	Name string // of its file, such as "aibox-run.1"
	Text string // roff
}

// Pages returns a page for the command and for each command below it.
func Pages(root *cobra.Command) []Page {
	if root.Hidden {
		return nil
	}
	pages := []Page{{Name: name(root) + ".1", Text: page(root)}}
	for _, sub := range root.Commands() {
		pages = append(pages, Pages(sub)...)
	}
	return pages
}

// Write puts the pages of root into a folder, in the place of all that are there.
func Write(dir string, root *cobra.Command) error {
	old, err := filepath.Glob(filepath.Join(dir, name(root)+"*.1"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, p := range Pages(root) {
		if err := os.WriteFile(filepath.Join(dir, p.Name), []byte(p.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func page(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".\\\" made by cmd/aibox-man: do not edit\n.TH %s 1 \"\" aibox \"aibox manual\"\n", quote(strings.ToUpper(name(cmd))))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", text(name(cmd)), text(lowerFirst(cmd.Short)))
	usage := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		usage = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", text(usage))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", paragraphs(cmd.Long))
	if cmd.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", text(name(sub)), text(sub.Short))
			}
		}
	}
	b.WriteString(options(cmd))
	fmt.Fprintf(&b, ".SH EXIT STATUS\n.nf\n%s.fi\n", lines(cmd.Annotations[exit.Annotation]))
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s.fi\n", lines(cmd.Example))
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", text(name(cmd.Parent())))
	}
	return b.String()
}

// lowerFirst is for the line after a name, which is no sentence.
func lowerFirst(s string) string {
	first, rest, _ := strings.Cut(s, " ")
	if first == "Claude" || rest == "" {
		return s
	}
	return strings.ToLower(first) + " " + rest
}

func options(cmd *cobra.Command) string {
	if !cmd.HasAvailableLocalFlags() {
		return ""
	}
	return ".SH OPTIONS\n.nf\n" + lines(cmd.LocalFlags().FlagUsages()) + ".fi\n"
}

// paragraphs sets plain text: lines that are indented stay as they are.
func paragraphs(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(part, " ") {
			fmt.Fprintf(&b, ".nf\n%s.fi\n", lines(part))
		} else {
			b.WriteString(lines(part))
		}
	}
	return b.String()
}

// lines escapes each line and ends the last one.
func lines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(text(strings.TrimRight(line, "\n")) + "\n")
	}
	return b.String()
}

// text escapes what roff would read as its own.
func text(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...", "’", "'").Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

// quote makes one argument of a request.
func quote(s string) string { return `"` + text(s) + `"` }
