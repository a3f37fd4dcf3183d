package run

import (
	"io"
	"net/url"
	"time"

	"aibox/internal/border/egress"
)

// Options say what to run and where. The zero value of a field means its default.
type Options struct {
	Dir  string // the project folder; the current one by default
	Home string // the user's home folder; the one of the environment by default

	// State is the home folder below which aibox keeps what belongs to the
	// project, in .aibox; Home by default.
	State string

	// Shell starts a shell, Command this shell command line; Claude Code by
	// default. Resume is the id of the Claude Code session to continue.
	Shell   bool
	Command string
	Resume  string

	Memory int // MiB; the config's by default
	CPUs   int // the config's by default
	// Image is a folder with vmlinuz and os.ext4 whose kernel is not checked.
	Image     string
	NoSandbox bool // QEMU without bubblewrap
	// Lax goes on where the kernel cannot enforce all of the confinement; what
	// is lost is printed.
	Lax     bool
	Timings bool // print how long each phase of the start took

	// BootTimeout bounds the time from the file server's start to a VM that
	// takes sessions; three minutes by default.
	BootTimeout time.Duration

	// Terminal connects the session to the terminal at Stdin. Without it the
	// three files are the command's own, kept apart.
	Terminal       bool
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// SessionStderr takes the session's stderr where it must stay apart from aibox's
	// own lines; Stderr by default.
	SessionStderr io.Writer

	// Upstream is the Claude API that the key gate talks to; the real one by
	// default. Only the host side can set it.
	Upstream *url.URL
	// APIKey stands for the environment's ANTHROPIC_API_KEY.
	APIKey string
	// Resolver looks names up for the proxy; the system's by default.
	Resolver egress.Resolver
	// Report is told at the end of a run whose VM was prepared; nil for none.
	Report func(Report)
	// ExtraEnv are NAME=value pairs for the session, after the config's.
	ExtraEnv []string
	// Task makes the run that of a task; nil for none.
	Task *Task
}
