package suggest

import (
	"slices"

	"aibox/internal/config"
	"aibox/internal/hosts"
)

// maxRefused bounds the hosts that are offered of those refused.
const maxRefused = 20

// Refused returns, of targets that a VM asked for as host:port, the entries that
// would allow them: names only, once each, without those that the settings
// allow, which were refused for another reason.
func Refused(targets []string, s config.Settings) []string {
	var entries []string
	for _, target := range targets {
		e, err := hosts.Parse(target)
		if err != nil || e.Kind != hosts.Name || len(entries) == maxRefused {
			continue
		}
		if _, allowed := s.Allow.Match(hosts.Target{Name: e.Host, Port: e.Port}); allowed || slices.Contains(entries, e.String()) {
			continue
		}
		entries = append(entries, e.String())
	}
	return entries
}
