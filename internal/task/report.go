package task

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"aibox/internal/fault"
	"aibox/internal/plain"
	"aibox/internal/wire"
)

// report prints the end of a task and writes its record.
func (j *job) report(ctx context.Context, e ended, to io.Writer) error {
	problem := e.problem(j.task.Dir)
	r := Record{
		ID: j.task.ID, Project: j.folder.Path, Folder: j.task.Dir, Start: j.start,
		Begin: j.begin.UTC(), End: j.Now().UTC(), Finished: problem == nil,
		Reached: plainList(e.reached), Refused: plainList(e.refused), VM: e.Claim,
	}
	if problem != nil {
		r.Problem = plain.Line(strings.ReplaceAll(reason(ctx, problem), "\n", "; "))
	}
	if e.Bundle != nil {
		r.Tip = e.Bundle.Tip
		r.Fetch = FetchCommand(j.folder.Path, j.task.File(wire.ChangesFile), j.task.ID)
	}
	j.printHosts(e)
	j.printClaim(e)
	if problem != nil {
		j.lines.ownError(reason(ctx, problem), fault.HintOf(problem))
		j.lines.Own("ended after %v; kept: %s", r.End.Sub(r.Begin).Round(time.Second), kept(e, j.task.Dir))
	} else {
		j.lines.Own("finished after %v; kept: %s", r.End.Sub(r.Begin).Round(time.Second), kept(e, j.task.Dir))
	}
	switch {
	case r.Fetch != "":
		j.lines.Own("review the changes with: %s", r.Fetch)
	case problem == nil:
		j.lines.Own("nothing was changed")
	case e.began():
		j.lines.Own("no commits came back")
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		_, err = to.Write(append(text, '\n'))
	}
	if err != nil {
		j.lines.Own("%s could not be written: %v", wire.ResultFile, err)
	}
	j.lines.event(endEvent{"end", r.End, j.task.ID, r})
	if problem != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return problem
}

// endEvent is the last event as JSON.
type endEvent struct {
	Event  string    `json:"event"` // "end"
	Time   time.Time `json:"time"`
	Task   string    `json:"task"`
	Result Record    `json:"result"`
}

// FetchCommand is the command that fetches a task's branch, as a branch named
// after the task, into the project. Git checks all objects on the way.
func FetchCommand(project, bundle, id string) string {
	return fmt.Sprintf("git -C %s -c transfer.fsckObjects=true -c fetch.fsckObjects=true fetch --no-tags %s %s:aibox/%s",
		fault.ShellQuote(project), fault.ShellQuote(bundle), wire.TaskBranch, id)
}

// kept names the folder and what came into it.
func kept(e ended, dir string) string {
	var names []string
	for _, name := range []string{wire.ChangesFile, wire.TranscriptFile, wire.ClaudeLogFile} {
		if e.sizes[name] == 0 {
			continue
		}
		if name == wire.ChangesFile && e.Bundle == nil {
			name += " (not usable)"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return dir + " (no results, only logs)"
	}
	return dir + " (" + strings.Join(names, ", ") + ")"
}

func (j *job) printHosts(e ended) {
	for _, x := range []struct {
		what string
		list []string
	}{{"hosts reached", e.reached}, {"hosts refused", e.refused}} {
		if text := hostList(x.list); text != "" {
			j.lines.Own("%s: %s", x.what, text)
		}
	}
}

func hostList(hosts []string) string {
	more := ""
	if len(hosts) > maxHosts {
		more = fmt.Sprintf(" and %d more", len(hosts)-maxHosts)
		hosts = hosts[:maxHosts]
	}
	return plain.LineMax(strings.Join(hosts, ", "), maxLineBytes/2) + more
}

// printClaim prints what the VM says as the VM's lines.
func (j *job) printClaim(e ended) {
	c := e.Claim
	if c == nil {
		return
	}
	j.lines.print(vmVoice, fmt.Sprintf("outcome: %s, %d turns, %v, about $%.2f", c.Outcome, c.Turns, time.Duration(c.Seconds*1e9).Round(time.Second), c.CostUSD))
	for _, text := range []string{c.Reason, c.Trouble} {
		if text != "" {
			j.lines.print(vmVoice, text)
		}
	}
	if c.Leftover {
		j.lines.print(vmVoice, "the last commit holds what Claude Code left uncommitted")
	}
	if c.Squashed {
		j.lines.print(vmVoice, "all changes come as one commit, since their history did not build on the start commit alone")
	}
	for line := range strings.Lines(c.LastMessage) {
		j.lines.print(vmVoice, "| "+strings.TrimRight(line, "\n"))
	}
}

func plainList(hosts []string) []string {
	list := make([]string, 0, len(hosts))
	for _, h := range hosts {
		list = append(list, plain.LineMax(h, 300))
	}
	return list
}
