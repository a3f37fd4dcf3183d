// Package proxylog reads back what the last run of a project was refused.
package proxylog

import (
	"os"

	"aibox/internal/border/egress/readlog"
)

// Refused returns the hosts, as host:port, that the log at path says were
// refused; none where there is no log. The VM chose the names.
func Refused(path string) []string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	return readlog.Refused(f)
}
