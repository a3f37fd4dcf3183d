package cgroup

import "strings"

// populated reads the content of cgroup.events. What cannot be read counts as
// populated, so that nobody takes a group for empty by mistake.
func populated(events string) bool {
	for line := range strings.Lines(events) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == "populated" {
			return value != "0"
		}
	}
	return true
}
