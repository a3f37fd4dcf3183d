package serve

import (
	"aibox/internal/border/egress/record"
	"aibox/internal/border/egress/route"
	"aibox/internal/border/gitgate"
	"aibox/internal/hosts"
)

// newGitGate makes the git broker. Of a repository that is not listed but whose
// host is allowed, it sends git to the host itself.
func newGitGate(c Config, r *record.Recorder) *gitgate.Gate {
	return gitgate.New(gitgate.Config{
		Repos: c.Git.Repos, Recorder: gitRecord{r},
		Allowed: func(host string) bool {
			_, ok := c.Allow.Match(hosts.Target{Name: host, Port: hosts.DefaultPort})
			return ok
		},
	})
}

// gitRecord writes the broker's events into the log of hosts.
type gitRecord struct{ r *record.Recorder }

func (g gitRecord) Passed(what string) { g.r.Connect(what) }

func (g gitRecord) Refused(what, why string) {
	g.r.Refuse(route.Refusal{Target: what, Text: why})
}

func (g gitRecord) Failed(what, why string) { g.r.Fail(what + ": " + why) }
