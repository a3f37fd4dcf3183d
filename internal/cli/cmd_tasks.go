package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"aibox/internal/cli/console"
	"aibox/internal/fault"
	"aibox/internal/plain"
	"aibox/internal/project"
	"aibox/internal/task"

	"github.com/spf13/cobra"
)

func (a *app) tasksCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "List, show and clean up what came back from tasks",
		Long: `Each task has a folder with the bundle of its commits, the transcript and logs. "aibox task"
prints its path, and "aibox tasks show" the command that fetches the commits.`,
		Example: "  aibox tasks list",
	}
	cmd.AddCommand(a.tasksList(), a.tasksShow(), a.tasksClean())
	return cmd
}

// projectsOfTasks returns the project in the current folder, or all.
func (a *app) projectsOfTasks(all bool) ([]project.Kept, error) {
	if !all {
		k, err := a.here()
		return []project.Kept{k}, err
	}
	if err := a.notRoot(); err != nil {
		return nil, err
	}
	place, err := a.place()
	if err != nil {
		return nil, err
	}
	return place.All()
}

func (a *app) tasksOf(projects []project.Kept) ([]task.Entry, error) {
	var list []task.Entry
	for _, k := range projects {
		entries, err := task.List(k)
		if err != nil {
			return nil, err
		}
		list = append(list, entries...)
	}
	return list, nil
}

func (a *app) tasksList() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "list [--all] [--json]",
		Short: "List the tasks of the project in the current folder",
		Long: `Lists each task: its id, when it began, its state and the begin of its prompt. States are
running, finished, timeout, stopped, failed, and killed for a task whose aibox did not end in
order.`,
		Example:     "  aibox tasks list\n  aibox tasks list --all --json",
		Annotations: exits("the list was printed", fault.Failed, fault.Machine, fault.Refused),
		Args:        noArgs,
		RunE: func(*cobra.Command, []string) error {
			projects, err := a.projectsOfTasks(all)
			if err != nil {
				return err
			}
			list, err := a.tasksOf(projects)
			if err != nil {
				return err
			}
			if asJSON {
				return a.tasksJSON(list)
			}
			return a.tasksTable(list, all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the tasks of all projects")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listedTask is a task in JSON. Fields are only ever added.
type listedTask struct {
	ID      string       `json:"id"`
	Project string       `json:"project"`
	Folder  string       `json:"folder"`
	State   string       `json:"state"`
	PID     int          `json:"pid,omitempty"`
	Begin   *time.Time   `json:"begin"`
	Start   string       `json:"start,omitempty"`
	Prompt  string       `json:"prompt_begin,omitempty"`
	Result  *task.Record `json:"result"`
}

func inJSON(e task.Entry) listedTask {
	l := listedTask{
		ID: e.Task.ID, Project: e.Project, Folder: e.Task.Dir, State: e.State(), PID: e.PID,
		Start: e.Start, Prompt: e.Prompt, Result: e.Record,
	}
	if !e.Begin.IsZero() {
		l.Begin = &e.Begin
	}
	return l
}

func (a *app) tasksJSON(list []task.Entry) error {
	all := []listedTask{}
	for _, e := range list {
		all = append(all, inJSON(e))
	}
	return a.writeJSON(all)
}

func (a *app) writeJSON(v any) error {
	encode := json.NewEncoder(a.out)
	encode.SetIndent("", "  ")
	encode.SetEscapeHTML(false)
	return encode.Encode(v)
}

func (a *app) tasksTable(list []task.Entry, all bool) error {
	if len(list) == 0 {
		a.Note("no task yet; aibox task starts one")
		return nil
	}
	t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	project := ""
	if all {
		project = "\tPROJECT"
	}
	fmt.Fprintln(t, "TASK\tBEGAN\tSTATE"+project+"\tPROMPT")
	for _, e := range list {
		began, project := "unknown", ""
		if !e.Begin.IsZero() {
			began = e.Begin.Local().Format("2006-01-02 15:04")
		}
		if all {
			project = "\t" + plain.Line(e.Project)
		}
		fmt.Fprintf(t, "%s\t%s\t%s%s\t%s\n", e.Task.ID, began, e.State(), project, plain.LineMax(e.Prompt, 60))
	}
	return t.Flush()
}

func (a *app) tasksShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [ID] [--json]",
		Short: "Show what came back from a task, and how to fetch its commits",
		Long: `Shows one task of the project in the current folder: the last one, or that of ID. The begin of
an id is enough where it is the only one. What the VM said is marked as the VM's words.`,
		Example:     "  aibox tasks show\n  aibox tasks show 1129-k3f",
		Annotations: exits("the task was shown", fault.Failed, fault.Machine, fault.Refused),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.New(fault.Usage, "aibox tasks list shows the ids", "name one task")
			}
			k, err := a.here()
			if err != nil {
				return err
			}
			e, err := taskToShow(k, args)
			if err != nil {
				return err
			}
			if asJSON {
				return a.writeJSON(inJSON(e))
			}
			a.show(e)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// taskToShow is the task that is named, or the one that began last.
func taskToShow(k project.Kept, args []string) (task.Entry, error) {
	if len(args) > 0 {
		t, err := k.TaskByID(args[0])
		if err != nil {
			return task.Entry{}, err
		}
		return task.Look(k, t), nil
	}
	list, err := task.List(k)
	if err != nil {
		return task.Entry{}, err
	}
	if len(list) == 0 {
		return task.Entry{}, fault.New(fault.Failed, `aibox task "what to do" starts one`, "there is no task of this project yet")
	}
	return slices.MaxFunc(list, func(a, b task.Entry) int { return a.Begin.Compare(b.Begin) }), nil
}

func (a *app) show(e task.Entry) {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(a.out, "%-9s %s\n", name+":", plain.Line(text))
		}
	}
	line("task", e.Task.ID)
	line("state", e.State())
	line("folder", e.Task.Dir)
	line("start", e.Start)
	line("prompt", e.Prompt)
	r := e.Record
	if r == nil {
		return
	}
	line("took", r.End.Sub(r.Begin).Round(time.Second).String())
	line("problem", r.Problem)
	line("reached", strings.Join(r.Reached, ", "))
	line("refused", strings.Join(r.Refused, ", "))
	line("tip", r.Tip)
	line("fetch", r.Fetch)
	if c := r.VM; c != nil {
		line("vm says", fmt.Sprintf("%s, %d turns, about $%.2f", c.Outcome, c.Turns, c.CostUSD))
		for _, text := range []string{c.Reason, c.Trouble} {
			line("vm says", text)
		}
		for text := range strings.Lines(c.LastMessage) {
			line("vm says", "| "+strings.TrimRight(text, "\r\n"))
		}
	}
}

func (a *app) tasksClean() *cobra.Command {
	var all, yes bool
	var older string
	cmd := &cobra.Command{
		Use:   "clean [--all] [--older-than TIME] [--yes]",
		Short: "Remove the folders of tasks that have ended",
		Long: `Removes what came back from ended tasks of the project in the current folder. Bundles
that were not fetched go too. Running tasks are left alone. On a terminal it asks first.`,
		Example:     "  aibox tasks clean --older-than 7d",
		Annotations: exits("they were removed, or you said no", fault.Failed, fault.Machine, fault.Refused),
		Args:        noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var age time.Duration
			if older != "" {
				var err error
				if age, err = task.ParseDuration(older); err != nil {
					return err
				}
			}
			projects, err := a.projectsOfTasks(all)
			if err != nil {
				return err
			}
			return a.clean(cmd, projects, age, yes)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "of all projects")
	cmd.Flags().StringVar(&older, "older-than", "", "only those that began longer ago than this `time`, such as 7d")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) clean(cmd *cobra.Command, projects []project.Kept, age time.Duration, yes bool) error {
	list, err := a.tasksOf(projects)
	if err != nil {
		return err
	}
	old, failed := a.ended(list, age)
	if len(old) > 0 && !yes && console.IsTerminal(a.std.In) {
		if ok, err := a.Confirm(cmd.Context(), false, "Remove %d tasks with their results?", len(old)); err != nil || !ok {
			return err
		}
	}
	for _, e := range old {
		if err := e.Task.Remove(cmd.Context()); err != nil {
			failed = append(failed, err)
			continue
		}
		a.Note("removed %s", e.Task.ID)
	}
	for _, k := range projects {
		if err := k.RemoveTaskLeftovers(cmd.Context(), time.Now()); err != nil {
			failed = append(failed, err)
		}
	}
	if len(old) == 0 && len(failed) == 0 {
		a.Note("there is nothing to remove")
	}
	if len(failed) > 0 {
		return fault.New(fault.Failed, "aibox tasks list shows what is left", "%d tasks could not be checked or removed: %w", len(failed), errors.Join(failed...))
	}
	return nil
}

// ended returns the tasks that may go, and why some could not be checked.
func (a *app) ended(list []task.Entry, age time.Duration) (old []task.Entry, failed []error) {
	for _, e := range list {
		switch {
		case e.Unchecked != nil:
			failed = append(failed, e.Unchecked)
		case e.Running:
			a.Note("left alone: %s is running", e.Task.ID)
		case age == 0 || time.Since(e.Begin) > age:
			old = append(old, e)
		}
	}
	return old, failed
}
