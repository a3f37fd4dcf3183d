package man

import (
	"strings"
	"testing"

	"aibox/internal/cli/exit"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func TestPage(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "Do things", Long: ".dot\n'quote\n\n  indented \\ back\n\nlast"}
	sub := &cobra.Command{
		Use: "sub NAME", Short: "Do one thing", Long: "One.", Example: "  tool sub --a-flag x",
		Run: func(*cobra.Command, []string) {}, Annotations: map[string]string{exit.Annotation: "  0  done\n  1  not"},
	}
	sub.Flags().StringP("a-flag", "a", "", "set the `value`")
	root.AddCommand(sub, &cobra.Command{Use: "secret", Hidden: true, Run: func(*cobra.Command, []string) {}})
	pages := Pages(root)
	if len(pages) != 2 || pages[0].Name != "tool.1" || pages[1].Name != "tool-sub.1" {
		t.Fatalf("pages: %+v", pages)
	}
	if want := ".SH DESCRIPTION\n\\&.dot\n\\&'quote\n.PP\n.nf\n  indented \\e back\n.fi\n.PP\nlast\n.SH COMMANDS\n.TP\n.BR tool\\-sub (1)\nDo one thing\n"; !strings.Contains(pages[0].Text, want) {
		t.Error(cmp.Diff(want, pages[0].Text))
	}
	const want = `.\" made by cmd/aibox-man: do not edit
.TH "TOOL\-SUB" 1 "" aibox "aibox manual"
.SH NAME
tool\-sub \- do one thing
.SH SYNOPSIS
.B tool sub NAME [flags]
.SH DESCRIPTION
One.
.SH OPTIONS
.nf
  \-a, \-\-a\-flag value   set the value
  \-h, \-\-help           help for sub
.fi
.SH EXIT STATUS
.nf
  0  done
  1  not
.fi
.SH EXAMPLES
.nf
  tool sub \-\-a\-flag x
.fi
.SH SEE ALSO
.BR tool (1)
`
	if diff := cmp.Diff(want, pages[1].Text); diff != "" {
		t.Error(diff)
	}
}
