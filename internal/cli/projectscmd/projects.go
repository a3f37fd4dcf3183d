// Package projectscmd holds the commands that list and clear what is kept for
// projects.
package projectscmd

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"aibox/internal/cli/console"
	"aibox/internal/cli/exit"
	"aibox/internal/cli/usage"
	"aibox/internal/fault"
	"aibox/internal/plain"
	"aibox/internal/project"

	"github.com/spf13/cobra"
)

// Projects are the commands' surroundings.
type Projects struct {
	console.Console
	Out     io.Writer // stdout, whose errors are kept
	Place   func() (project.Place, error)
	NotRoot func() error // refuses to work as root
	// KeptHere names what is kept for the project in the current folder.
	KeptHere func() (project.Kept, error)
}

// Command returns "projects" with its commands.
func Command(p *Projects) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "projects",
		SuggestFor: []string{"ls", "list", "reset"},
		Short:      "List, reset and remove what aibox keeps for projects",
		Long:       "For each project aibox keeps a config, the VM's home, a disk and logs in ~/.aibox.",
		Example:    "  aibox projects list",
	}
	cmd.AddCommand(p.projectsList(), p.projectsReset(), p.projectsRemove())
	return cmd
}

func (p *Projects) projectsList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [--json]",
		Short: "List the projects with size, last run and whether one is running",
		Long: `Lists each project: its path, the disk space that is taken for it ("+" means more,
which could not be read), its last run, and its state.`,
		Example:     "  aibox projects list",
		Annotations: exit.Notes("the list was printed", fault.Failed, fault.Machine),
		Args:        usage.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := p.Place()
			if err != nil {
				return err
			}
			list, err := place.List(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return p.listJSON(list)
			}
			return p.listTable(list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listed is a project in JSON. Fields are only ever added.
type listed struct {
	Path    string     `json:"path"`
	Kept    string     `json:"kept"`
	Size    int64      `json:"size_bytes"`
	Partial bool       `json:"size_partial"`
	LastRun *time.Time `json:"last_run"`
	Running bool       `json:"running"`
	PID     int        `json:"pid,omitempty"`
	Gone    bool       `json:"gone"`
}

func (p *Projects) listJSON(list []project.Entry) error {
	all := []listed{}
	for _, e := range list {
		l := listed{Path: e.Kept.Project, Kept: e.Kept.Dir, Size: e.Size, Partial: e.Partial, Running: e.Running, PID: e.PID, Gone: e.Gone}
		if !e.LastRun.IsZero() {
			at := e.LastRun.UTC()
			l.LastRun = &at
		}
		all = append(all, l)
	}
	encode := json.NewEncoder(p.Out)
	encode.SetIndent("", "  ")
	return encode.Encode(all)
}

func (p *Projects) listTable(list []project.Entry) error {
	if len(list) == 0 {
		p.Note("no project yet; aibox run in a folder makes it one")
		return nil
	}
	t := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PROJECT\tSIZE\tLAST RUN\tSTATE")
	for _, e := range list {
		size, last, state := Human(e.Size), "never", ""
		if e.Partial {
			size += "+"
		}
		if !e.LastRun.IsZero() {
			last = e.LastRun.Format("2006-01-02 15:04")
		}
		switch {
		case e.Running && e.PID > 0:
			state = fmt.Sprintf("running (process %d)", e.PID)
		case e.Running:
			state = "running"
		case e.Gone:
			state = "folder is gone"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", plain.Line(e.Kept.Project), size, last, state)
	}
	return t.Flush()
}

// Human writes a number of bytes with a unit.
func Human(n int64) string {
	const step = 1024
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	value, units := float64(n)/step, "KMGTPE"
	for value >= step-0.05 && len(units) > 1 {
		value, units = value/step, units[1:]
	}
	return fmt.Sprintf("%.1f %ciB", value, units[0])
}

func (p *Projects) projectsReset() *cobra.Command {
	var yes, logout bool
	cmd := &cobra.Command{
		Use:   "reset [--logout] [--yes]",
		Short: "Clear the VM's home and disk of the project in the current folder",
		Long: `Clears the VM's home and deletes its disk. Kept are the config, the logs, the tasks and
Claude Code's login; --logout drops the login too. The project's folder is not touched.`,
		Example:     "  aibox projects reset",
		Annotations: exit.Notes("it was cleared, or you said no", fault.Failed, fault.Machine, fault.Refused),
		Args:        usage.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := p.KeptHere()
			if err != nil {
				return err
			}
			if !yes {
				and := ", keeping Claude Code's login"
				if logout {
					and = " and drop Claude Code's login"
				}
				yes, err = p.Confirm(cmd.Context(), false, "Clear the home and the disk of the VM of %q%s?", k.Project, and)
				if err != nil || !yes {
					return err
				}
			}
			if err := k.Reset(cmd.Context(), logout); err != nil {
				return err
			}
			p.Note("the VM of %q starts afresh", k.Project)
			return nil
		},
	}
	cmd.Flags().BoolVar(&logout, "logout", false, "drop Claude Code's login too")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (p *Projects) projectsRemove() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:        "remove [PATH] [--yes]",
		SuggestFor: []string{"rm", "delete"},
		Short:      "Drop everything that aibox keeps for a project",
		Long: `Drops config, login, home, disk, logs and tasks of the project at PATH, or in the current
folder. PATH may be a folder that was moved or deleted. The project's folder is not touched.`,
		Example: `  aibox projects remove
  aibox projects remove ~/src/old-app`,
		Annotations: exit.Notes("it was dropped, or you said no", fault.Failed, fault.Machine, fault.Refused),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := p.toRemove(args)
			if err != nil {
				return err
			}
			if !yes {
				yes, err = p.Confirm(cmd.Context(), false, "Drop config, login, home, disk and logs that aibox keeps for %q?", k.Project)
				if err != nil || !yes {
					return err
				}
			}
			if err := k.Remove(cmd.Context()); err != nil {
				return err
			}
			p.Note("nothing is kept for %q any more", k.Project)
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (p *Projects) toRemove(args []string) (project.Kept, error) {
	if err := p.NotRoot(); err != nil {
		return project.Kept{}, err
	}
	path := "."
	switch len(args) {
	case 0:
	case 1:
		path = args[0]
	default:
		return project.Kept{}, fault.New(fault.Usage, "name one project", "aibox projects remove takes one path, but got %d", len(args))
	}
	place, err := p.Place()
	if err != nil {
		return project.Kept{}, err
	}
	k, ok := place.Find(path)
	if !ok {
		return project.Kept{}, fault.New(fault.Failed, "aibox projects list shows all", "nothing is kept for %q", path)
	}
	return k, nil
}
