package wire

import (
	"fmt"
	"strings"
	"time"
)

// A task's read-only share, and what it holds.
const (
	ShareTask = "task"
	GuestTask = "/run/task"

	TaskPromptFile   = "prompt"
	TaskSettingsFile = "task.json"

	// TaskRepository is a bare repository with the start commit, its history and
	// nothing else, as one pack with its index.
	TaskRepository = "start.git"
)

// Names of branches: the one of the start commit in TaskRepository, and the
// one that a task works on and that comes back.
const (
	TaskStartRef = "refs/heads/start"
	TaskRef      = "refs/heads/aibox/task"
	TaskBranch   = "aibox/task"
)

// ScratchArgument on the kernel's command line says that nobody reads the state
// disk after this boot. Init formats it before it gets the boot message.
const ScratchArgument = "aibox.scratch"

// TaskCommand is the command of a task's session. Its stdout is the tar of
// results, its stderr are lines for the user, and the end of its stdin asks the
// VM to stop Claude Code and to send what there is.
const TaskCommand = "task"

// Names in the tar of results, in their order. Each comes at most once, and
// ResultFile last.
const (
	ChangesFile = "changes.bundle"
	ResultFile  = "result.json"
)

// Files that come while Claude Code works, each over a stream of its own that the
// guest opens once (ServiceTranscript, ServiceClaudeLog). The stream is the
// file's bytes; the host ends it when it has stored them, after the guest did.
const (
	TranscriptFile = "transcript.jsonl"
	ClaudeLogFile  = "claude.log"
)

// Limits of results in bytes. The guest cuts the first two there.
const (
	MaxTranscript = 256 << 20
	MaxClaudeLog  = 1 << 20
	MaxChanges    = 4 << 30
	MaxResult     = 64 << 10
)

// Times around Claude Code in a task's VM.
const (
	TaskBefore = 10 * time.Minute
	TaskAfter  = 10 * time.Minute
)

// TaskSettings is what a task's VM has to know beside the prompt.
type TaskSettings struct {
	ID     string `json:"id"`
	Start  string `json:"start"`         // the start commit
	Format string `json:"object_format"` // sha1 or sha256

	TimeoutSeconds int64   `json:"timeout_seconds"`
	Model          string  `json:"model,omitempty"`
	MaxTurns       int     `json:"max_turns,omitempty"`
	MaxBudgetUSD   float64 `json:"max_budget_usd,omitempty"`
}

// Outcomes of a task in TaskResult.
const (
	OutcomeFinished = "finished" // Claude Code said that it is done
	OutcomeTimeout  = "timeout"
	OutcomeStopped  = "stopped" // the user asked for it
	OutcomeFailed   = "failed"
)

// TaskResult is what a VM says about its task.
type TaskResult struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"` // for any outcome but finished

	Turns       int     `json:"turns"`
	CostUSD     float64 `json:"cost_usd"`
	Seconds     float64 `json:"seconds"`        // of Claude Code
	Before      float64 `json:"seconds_before"` // until the project was there
	After       float64 `json:"seconds_after"`  // until the bundle was there
	LastMessage string  `json:"last_message,omitempty"`

	Tip      string `json:"tip,omitempty"` // of the task's branch
	Leftover bool   `json:"leftover"`      // the last commit is aibox's
	Squashed bool   `json:"squashed"`      // the branch was not on top of the start commit
	// Trouble is what failed after Claude Code ended, such as the bundle.
	Trouble string `json:"trouble,omitempty"`
}

// ResultBlock is the size of a header, and what contents are padded to.
const ResultBlock = 512

// ResultHeader returns the one header in the tar of results that a file of this
// name and size can have: a plain file of root's in the ustar format. So a
// reader has nothing to interpret: it compares.
func ResultHeader(name string, size int64) [ResultBlock]byte {
	var h [ResultBlock]byte
	copy(h[0:100], name)
	copy(h[100:], "0000600\x000000000\x000000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x00", size))
	copy(h[136:], "00000000000\x00")
	copy(h[148:], strings.Repeat(" ", 8))
	h[156] = '0'
	copy(h[257:], "ustar\x0000")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return h
}

// ResultPadding is how many zero bytes follow contents of this size.
func ResultPadding(size int64) int64 { return (ResultBlock - size%ResultBlock) % ResultBlock }
