package run

import (
	"os"
	"slices"

	"aibox/internal/border/link"
	"aibox/internal/border/results"
	"aibox/internal/project"
	"aibox/internal/run/room"
	"aibox/internal/share"
	"aibox/internal/wire"
)

// Task makes a run that of a task: the VM sees Share in place of the project
// and the home, its disk is fresh and without a name, and its one session is
// wire.TaskCommand. It runs beside others of the project.
type Task struct {
	// Folder takes the logs. Its caller holds its lock.
	Folder project.Task
	Share  *os.File // read-only for the VM
	// Transcript and ClaudeLog take what Claude Code prints, while it does.
	Transcript, ClaudeLog *results.Live
}

// logs name the files that the user is told to look at.
type logs interface {
	ConsoleLog() string
	ProxyLog() string
}

// folders are the folders that take the place of project and home.
func (t *Task) folders() []share.Folder {
	return []share.Folder{{Name: wire.ShareTask, Dir: t.Share, ReadOnly: true}}
}

// change makes the boot message that of a task. What is copied into the home of
// a run is no part of it.
func (t *Task) change(b *wire.Boot) {
	b.Task, b.User = true, nil
	b.Binds = slices.DeleteFunc(b.Binds, func(bind wire.Bind) bool { return bind.Share == shareProject || bind.Share == shareHome })
	b.Binds = append(b.Binds, wire.Bind{Share: wire.ShareTask, Target: wire.GuestTask, ReadOnly: true})
}

// serve adds what a task's VM finds at the other end of its streams.
func (t *Task) serve(handlers map[string]link.Handler) {
	handlers[wire.ServiceTranscript] = link.Handler{Serve: t.Transcript.Serve, MaxStreams: 1}
	handlers[wire.ServiceClaudeLog] = link.Handler{Serve: t.ClaudeLog.Serve, MaxStreams: 1}
}

// openTaskFiles is openFiles for a task.
func (p *prepared) openTaskFiles(t *Task, undo *undo) error {
	probe, err := room.Open(t.Folder.Dir)
	if err != nil {
		return err
	}
	undo.push(func() { p.full = probe.Close() })
	if p.state, err = t.Folder.OpenDisk(p.settings.DiskGiB); err != nil {
		return err
	}
	undo.close(p.state.File)
	return p.openLogs(t.Folder.OpenConsoleLog, t.Folder.OpenProxyLog, undo)
}

func (p *prepared) openLogs(console, proxy func() (*os.File, error), undo *undo) error {
	for _, log := range []struct {
		open func() (*os.File, error)
		to   **os.File
	}{{console, &p.console}, {proxy, &p.proxyLog}} {
		f, err := log.open()
		if err != nil {
			return err
		}
		undo.close(f)
		*log.to = f
	}
	return nil
}
