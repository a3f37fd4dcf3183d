package task

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aibox/internal/border/results"
	"aibox/internal/config"
	"aibox/internal/fault"
	"aibox/internal/project"
	"aibox/internal/wire"
)

// Options say what to do.
type Options struct {
	Limits
	Home string // the user's
	Dir  string // the project; the current folder by default
	From string // revision of the start commit
	// Prompt was checked by package prompt.
	Prompt string
	Plan   bool // print what the task may reach, also if it is not the first
	JSON   bool // events on Stdout
	// Lax goes on where the kernel cannot enforce all of the confinement.
	Lax bool

	Lookup         func(string) (string, bool) // os.LookupEnv
	Stdout, Stderr io.Writer
	Now            func() time.Time

	// Boot has a VM run the task.
	Boot func(context.Context, VM) error
}

// VM is what a task needs of a VM.
type VM struct {
	Dir   string // the project
	Task  project.Task
	Share *os.File // the folder for the VM, read-only
	// Stdin ends when the VM shall stop Claude Code and send what there is.
	// Results takes the tar, Said the lines that the VM prints.
	Stdin         io.Reader
	Results, Said io.Writer
	// Own takes aibox's lines about the VM.
	Own io.Writer
	// Transcript and ClaudeLog take what Claude Code prints, while it does.
	Transcript, ClaudeLog *results.Live
	// Hosts is told, at the end, which hosts were reached and refused.
	Hosts func(reached, refused []string)
}

// ToldError is an error that has been printed already.
type ToldError struct{ Err error }

func (e *ToldError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e *ToldError) Unwrap() error { return e.Err }

// Run runs a task to its end. It returns nil only if it finished. When ctx ends,
// Claude Code is stopped and its work so far is collected. An error that came
// once the task had its folder is a *ToldError.
func Run(ctx context.Context, o Options) error {
	j, err := prepare(ctx, o)
	if err != nil {
		return fullDisk(err, o.Home)
	}
	defer j.close()
	if err := j.run(ctx); err != nil {
		return &ToldError{err}
	}
	return nil
}

// job is one task.
type job struct {
	Options
	kept     project.Kept
	folder   project.Folder
	settings config.Settings
	resolved config.Resolved
	repo     *repository
	start    string // commit
	first    bool   // of the project

	task  project.Task
	lines *Lines
	begin time.Time
	undo  []func()
}

func (j *job) close() {
	for i := len(j.undo) - 1; i >= 0; i-- {
		j.undo[i]()
	}
}

// prepare refuses what can be refused, and then makes the task's folder.
func prepare(ctx context.Context, o Options) (_ *job, err error) {
	j := &job{Options: o}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	if err := o.Check(); err != nil {
		return nil, err
	}
	place, err := project.NewPlace(o.Home)
	if err != nil {
		return nil, err
	}
	if j.folder, err = place.OpenProject(o.Dir); err != nil {
		return nil, err
	}
	j.undo = append(j.undo, func() { j.folder.Dir.Close() })
	j.kept = place.Kept(j.folder.Path)
	if err := j.readConfig(); err != nil {
		return nil, err
	}
	if j.repo, err = openRepository(ctx, j.folder, o.Lax); err != nil {
		return nil, err
	}
	j.undo = append(j.undo, j.repo.close)
	if j.start, err = j.repo.resolve(ctx, o.From); err != nil {
		return nil, err
	}
	if err = j.checkLogin(); err != nil {
		return nil, err
	}
	return j, j.create()
}

// readConfig reads the config, or what the first run will write.
func (j *job) readConfig() error {
	var err error
	j.settings, err = config.Load(j.kept.Config())
	if errors.Is(err, fs.ErrNotExist) {
		j.settings, err = config.Parse(j.kept.Config(), config.DefaultText())
	}
	if err != nil {
		return err
	}
	j.resolved, err = j.settings.Resolve(config.Host{Home: j.Home, Lookup: j.Lookup})
	return err
}

// checkLogin wants what Claude Code logs in with.
func (j *job) checkLogin() error {
	if hasLogin(j.resolved) {
		return nil
	}
	const hint = "aibox config edit, and add the line: env: [" + config.APIKeyName + "]"
	for _, name := range j.resolved.Unset {
		if name == config.APIKeyName || name == oauthName {
			return fault.New(fault.Failed, "export "+name+"=…", "a task needs a login, but %s is not set here", name)
		}
	}
	return fault.New(fault.Failed, hint, "a task needs a login: the config's env holds neither %s nor %s", config.APIKeyName, oauthName)
}

// create makes the task's folder, which is locked from then on.
func (j *job) create() error {
	if err := j.kept.Create(); err != nil {
		return err
	}
	if _, err := config.WriteDefault(j.kept.Config()); err != nil {
		return err
	}
	shared, err := j.kept.LockTask()
	if err != nil {
		return err
	}
	j.undo = append(j.undo, shared.Release)
	earlier, err := j.kept.ListTasks()
	if err != nil {
		return err
	}
	j.first, j.begin = len(earlier) == 0, j.Now()
	var lock *project.Lock
	if j.task, lock, err = j.kept.NewTask(newID(j.begin)); err != nil {
		return err
	}
	j.undo = append(j.undo, lock.Release)
	j.lines = &Lines{id: j.task.ID, err: j.Stderr, out: j.Stdout, json: j.JSON, now: j.Now}
	if !j.JSON {
		fmt.Fprintln(j.Stdout, j.task.Dir)
	}
	j.lines.event(startEvent{"start", j.begin.UTC(), j.task.ID, j.task.Dir, j.folder.Path, j.start})
	return nil
}

// startEvent is the first event as JSON.
type startEvent struct {
	Event   string    `json:"event"` // "start"
	Time    time.Time `json:"time"`
	Task    string    `json:"task"`
	Folder  string    `json:"folder"`
	Project string    `json:"project"`
	Start   string    `json:"start"`
}

// newID returns month, day and five random letters: short in a line's head, and
// in the order of days.
func newID(now time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return now.Format("0102") + "-" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))[:5]
}

// run makes the share, has the VM run, and reports.
func (j *job) run(ctx context.Context) error {
	if j.Plan || j.first {
		for _, line := range Plan(j.settings, j.resolved) {
			j.lines.Own("%s", line)
		}
	}
	j.lines.Own("packing the start commit %.12s with its history", j.start)
	share, err := j.share(ctx)
	if err != nil {
		return j.unstarted(ctx, fullDisk(err, j.task.Dir))
	}
	defer share.Close()
	j.lines.Own("starting the VM")
	return j.vm(ctx, share)
}

// unstarted reports a task whose VM was not even started.
func (j *job) unstarted(ctx context.Context, err error) error {
	f, openErr := j.task.CreateFile(wire.ResultFile)
	if openErr != nil {
		j.lines.ownError(reason(ctx, err), fault.HintOf(err))
		return err
	}
	defer f.Close()
	return j.report(ctx, ended{boot: err, read: io.ErrUnexpectedEOF}, f)
}

// share fills the folder that the VM sees.
func (j *job) share(ctx context.Context) (*os.File, error) {
	if err := j.repo.pack(ctx, j.task, j.start); err != nil {
		return nil, err
	}
	settings, err := json.Marshal(request{
		TaskSettings: wire.TaskSettings{
			ID: j.task.ID, Start: j.start, Format: j.repo.format, TimeoutSeconds: int64(j.Timeout.Seconds()),
			Model: j.Model, MaxTurns: j.MaxTurns, MaxBudgetUSD: j.MaxBudgetUSD,
		},
		Begin: j.begin.UTC(), Prompt: firstLine(j.Prompt),
	})
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{wire.TaskPromptFile: []byte(j.Prompt), wire.TaskSettingsFile: settings} {
		if err := os.WriteFile(filepath.Join(j.task.Share(), name), text, 0o600); err != nil {
			return nil, fault.New(fault.Machine, "", "write the task's share: %w", err)
		}
	}
	return os.Open(j.task.Share())
}

// firstLine is the begin of a prompt, for lists.
func firstLine(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	if len(line) > 200 {
		line = strings.ToValidUTF8(line[:200], "")
	}
	return line
}

// reason is an error's text; an interrupt needs no more.
func reason(ctx context.Context, err error) string {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return "interrupted"
	}
	return err.Error()
}
