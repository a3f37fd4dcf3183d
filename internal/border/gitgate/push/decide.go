package push

import (
	"strings"

	"aibox/internal/plain"
)

// Policy says what of a repository may be pushed to.
type Policy struct {
	Remote string   // host/path, for the reasons
	Push   []string // patterns of branch names; "*" is any run without "/"
}

const heads = "refs/heads/"

// Decide returns why a command is not passed on, "" for one that is: it
// updates or creates a listed branch. A reason is one printable line.
func Decide(c Command, p Policy) string {
	branch, isBranch := strings.CutPrefix(c.Ref, heads)
	switch {
	case c.deletes() && c.creates():
		return "neither the old nor the new object is named"
	case strings.HasPrefix(c.Ref, "refs/tags/"):
		return "tags are not passed on; push the branch alone"
	case !isBranch:
		return plain.LineMax(c.Ref, maxReason/2) + " is no branch; only branches are passed on"
	case !validBranch(branch):
		return "not a valid name of a branch"
	case c.deletes():
		return "no branch is deleted; delete it from outside the VM"
	}
	for _, pattern := range p.Push {
		if match(pattern, branch) {
			return ""
		}
	}
	return "branch not listed; to allow it write in the project's config, at remote: " + p.Remote + ", push: " + listed(p.Push, branch)
}

// DecideAll returns the reason for each command of a push, and whether the push
// passes: all commands do. Those that would pass alone have a reason too then.
func DecideAll(req Request, p Policy) (reasons []string, pass bool) {
	pass = req.Refusal == ""
	for _, c := range req.Commands {
		reason := req.Refusal
		if reason == "" {
			reason = Decide(c, p)
		}
		pass = pass && reason == ""
		reasons = append(reasons, reason)
	}
	for i := range reasons {
		if !pass && reasons[i] == "" {
			reasons[i] = "not passed on, as another ref of this push is refused"
		}
	}
	return reasons, pass
}

// listed is the value of push that allows the branch too.
func listed(patterns []string, branch string) string {
	var quoted []string
	for _, p := range append(append([]string{}, patterns...), branch) {
		quoted = append(quoted, `"`+strings.ReplaceAll(plain.LineMax(p, maxReason/4), `"`, `\"`)+`"`)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// match tells whether a pattern, in which "*" is any run without "/", is the
// whole of a name. A name of n bytes takes at most n steps per "*".
func match(pattern, name string) bool {
	star, from := -1, 0 // the last "*", and where in name its run ends for now
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0 && name[from] != '/':
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// validBranch applies git's rules for the names of refs.
func validBranch(s string) bool {
	if s == "" || s == "@" || strings.HasPrefix(s, "-") || strings.Contains(s, "..") || strings.Contains(s, "@{") ||
		strings.HasSuffix(s, ".") || strings.ContainsAny(s, "~^:?*[\\ ") {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
