package run

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"aibox/internal/fault"
	"aibox/internal/wire"
)

var sessionID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// command returns the shell command line that the session runs; empty for a
// login shell.
func (o Options) command() (string, error) {
	switch {
	case o.Task != nil:
		return wire.TaskCommand, nil
	case o.Command != "":
		return o.Command, nil
	case o.Shell && o.Resume != "":
		return "", fault.New(fault.Usage, "drop one of the two", "--shell and --resume exclude each other")
	case o.Shell:
		return "", nil
	case o.Resume == "":
		return "exec claude", nil
	case !sessionID.MatchString(o.Resume):
		return "", fault.New(fault.Usage, "aibox prints the id of a session when it ends", "%q is no session id of Claude Code", o.Resume)
	}
	return "exec claude --resume " + o.Resume, nil
}

// lastSession is a shell command that prints the name of the newest session's
// file below /project, if it was written to during the last took.
func lastSession(took time.Duration) string {
	return fmt.Sprintf(`cd ~/.claude/projects/-project 2>/dev/null && `+
		`find . -maxdepth 1 -type f -name '*.jsonl' -newermt '%d seconds ago' -printf '%%T@ %%f\n' | sort -rn | head -n 1`, int(took.Seconds())+1)
}

// parseLastSession returns the session id in what lastSession printed, or "".
// The VM wrote it, so nothing but a well-formed id passes.
func parseLastSession(out string) string {
	_, name, _ := strings.Cut(strings.TrimSpace(out), " ")
	id := strings.TrimSuffix(name, ".jsonl")
	if !sessionID.MatchString(id) {
		return ""
	}
	return id
}
