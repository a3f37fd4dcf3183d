package task

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"aibox/internal/border/results"
	"aibox/internal/project"
	"aibox/internal/wire"
)

// Record is what aibox writes into result.json when a task has ended. What the
// VM says is in one field, apart from aibox's own words. Fields are only ever added.
type Record struct {
	ID      string    `json:"id"`
	Project string    `json:"project"`
	Folder  string    `json:"folder"`
	Start   string    `json:"start"` // the start commit
	Begin   time.Time `json:"begin"`
	End     time.Time `json:"end"`

	// Finished is true if the VM said that Claude Code was done and all results
	// came whole.
	Finished bool   `json:"finished"`
	Problem  string `json:"problem,omitempty"` // why not

	// Tip is the last commit of the bundle, whose header was checked; empty
	// without one. Fetch is the command that fetches it.
	Tip   string `json:"tip,omitempty"`
	Fetch string `json:"fetch,omitempty"`

	Reached []string `json:"hosts_reached"`
	Refused []string `json:"hosts_refused"`

	VM *results.Claim `json:"vm_says,omitempty"`
}

// request is what aibox writes before a task starts, into the folder that the
// VM sees.
type request struct {
	wire.TaskSettings
	Begin  time.Time `json:"begin"`
	Prompt string    `json:"prompt_begin"`
}

// readRecord reads one of the two. Only aibox writes them, but people may touch
// them: whatever is wrong is as good as a file that is missing.
func readRecord(path string, v any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.New("not a plain file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// Entry is a task as it is listed.
type Entry struct {
	Task    project.Task
	Project string
	Running bool
	PID     int
	// Unchecked says why it is not known whether the task runs, nil if it is.
	Unchecked error
	Begin     time.Time // zero if not known
	Start     string    // the start commit, "" if not known
	Prompt    string    // the prompt's begin
	Record    *Record   // nil if the task did not end in order, or runs
}

// List returns the tasks of a project.
func List(k project.Kept) ([]Entry, error) {
	tasks, err := k.ListTasks()
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, t := range tasks {
		list = append(list, Look(k, t))
	}
	return list, nil
}

// Look returns one task as it is listed.
func Look(k project.Kept, t project.Task) Entry {
	e := Entry{Task: t, Project: k.Project}
	e.Running, e.Unchecked = t.Alive()
	if e.Running {
		e.PID = t.PID()
	}
	var q request
	if readRecord(t.Share()+"/"+wire.TaskSettingsFile, &q) == nil {
		e.Begin, e.Start, e.Prompt = q.Begin, q.Start, q.Prompt
	}
	var r Record
	if !e.Running && readRecord(t.File(wire.ResultFile), &r) == nil {
		e.Record = &r
	}
	return e
}

// State is one word on the task, and a reason where there is one.
func (e Entry) State() string {
	switch {
	case e.Unchecked != nil:
		return "unknown"
	case e.Running:
		return "running"
	case e.Record == nil:
		return "killed"
	case e.Record.Finished:
		return "finished"
	case e.Record.VM != nil:
		return e.Record.VM.Outcome
	}
	return "failed"
}
