//go:build unix

package run

import (
	"os"
	"path/filepath"
	"strings"
)

// timeZone returns the IANA name of the host's time zone, "" if it cannot be told.
func timeZone() string {
	if name, set := os.LookupEnv("TZ"); set {
		return zoneName(strings.TrimPrefix(name, ":"))
	}
	target, err := filepath.EvalSymlinks("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(target, "/zoneinfo/")
	return zoneName(name)
}
