package task

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"aibox/internal/wire"
)

const (
	claudeProgram = "/usr/lib/aibox/claude"
	taskPrompt    = "/usr/share/aibox/task-prompt.md"
)

// gitLine begins every script that runs git: no program that the project's
// configuration names is started but the filters that its attributes ask for.
// Nothing needs to outlive the VM, so nothing waits for the disk.
const gitLine = `set -eu
cd ` + wire.GuestProject + `
g() { git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c gc.auto=0 -c maintenance.auto=false -c core.fsync=none "$@"; }
`

// gitEnv is for every step but Claude Code's. Replaced objects would make the
// branch look other than it is.
func gitEnv() []string {
	return []string{"GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ADVICE=0", "LC_ALL=C"}
}

// committer is who the commit of leftovers is by.
func committer() []string {
	return []string{
		"GIT_AUTHOR_NAME=aibox", "GIT_AUTHOR_EMAIL=aibox@localhost",
		"GIT_COMMITTER_NAME=aibox", "GIT_COMMITTER_EMAIL=aibox@localhost",
	}
}

// cloneScript makes the project from the share's repository: a clone without a
// remote to drop again. To index a large history anew would take longer than all
// the rest, and the host's git has just done it, so pack and index are copied. To
// borrow them does not do: git wants to touch a pack that has what it is to write,
// and writes it anew where it cannot.
func cloneScript(s wire.TaskSettings) string {
	return gitLine + fmt.Sprintf(`g init --quiet --initial-branch=%s --object-format=%s .
cp %s/%s/objects/pack/pack-* .git/objects/pack/
g reset --quiet --hard %s
if [ -e .gitmodules ]; then echo 'the submodules of this commit are empty folders here' >&3; fi
if grep -qs 'filter=lfs' .gitattributes; then echo 'files kept by git-lfs are only pointers here' >&3; fi
`, wire.TaskBranch, s.Format, wire.GuestTask, wire.TaskRepository, s.Start)
}

// claudeScript runs Claude Code, which reads the prompt from its input: an
// argument could not be as long.
func claudeScript(s wire.TaskSettings) string {
	args := []string{
		"exec", claudeProgram, "--print", "--verbose", "--output-format", "stream-json",
		"--permission-mode", "bypassPermissions", "--append-system-prompt-file", taskPrompt,
	}
	if s.Model != "" {
		args = append(args, "--model", quote(s.Model))
	}
	if s.MaxTurns > 0 {
		args = append(args, "--max-turns", strconv.Itoa(s.MaxTurns))
	}
	if s.MaxBudgetUSD > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(s.MaxBudgetUSD, 'f', -1, 64))
	}
	return strings.Join(args, " ")
}

// commitScript commits what is left, by plumbing that runs no hook and asks for no
// signature, and puts the branch on what Claude Code left as HEAD. It prints
// the tip and "leftover", "squashed" where they are so.
//
// A bundle may build on nothing but the start commit. Where the history does
// not (it was rewritten, or merges an older commit), the whole difference
// becomes one commit.
func commitScript(s wire.TaskSettings) string {
	return gitLine + fmt.Sprintf(`start=%[1]s
rm -f .git/index.lock .git/HEAD.lock .git/%[2]s.lock
g add --all || g add --all --ignore-errors || true
head=$(g rev-parse --verify --quiet 'HEAD^{commit}' || echo "$start")
tree=$(g write-tree)
said=
if [ "$tree" != "$(g rev-parse "$head^{tree}")" ]; then
  head=$(g commit-tree "$tree" -p "$head" -m 'Leftovers of the task

Claude Code ended without committing these changes.')
  said="$said leftover"
fi
if [ "$head" != "$start" ]; then
  edges=$(g rev-list --boundary "$head" "^$start" | grep '^-' | sort -u || true)
  if [ "$edges" != "-$start" ]; then
    head=$(g commit-tree "$tree" -p "$start" -m 'All changes of the task

The history that Claude Code made does not build on the start commit alone.')
    said="$said squashed"
  fi
fi
g update-ref %[2]s "$head"
echo "$head$said"
`, s.Start, wire.TaskRef)
}

// bundleScript writes the bundle to its output.
func bundleScript(s wire.TaskSettings) string {
	return gitLine + fmt.Sprintf("g bundle create --quiet - %s ^%s\n", wire.TaskRef, s.Start)
}

var oid = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// parseCommit reads what commitScript printed.
func parseCommit(out string) (tip string, leftover, squashed bool, err error) {
	fields := strings.Fields(out)
	if len(fields) == 0 || !oid.MatchString(fields[0]) {
		return "", false, false, fmt.Errorf("git named no commit but %q", short(out))
	}
	for _, f := range fields[1:] {
		leftover = leftover || f == "leftover"
		squashed = squashed || f == "squashed"
	}
	return fields[0], leftover, squashed, nil
}

// checkSettings refuses what could become something else in a script. The host
// checks it all; a mistake there should not end in a shell.
func checkSettings(s wire.TaskSettings) error {
	switch {
	case !oid.MatchString(s.Start):
		return fmt.Errorf("the start commit %q is no object id", short(s.Start))
	case s.Format != "sha1" && s.Format != "sha256":
		return fmt.Errorf("the object format %q is not known", short(s.Format))
	case s.TimeoutSeconds <= 0:
		return fmt.Errorf("the timeout is %d seconds", s.TimeoutSeconds)
	}
	return nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
