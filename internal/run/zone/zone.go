// Package zone tells the host's time zone, which each system names elsewhere.
package zone

import "regexp"

// Host returns the IANA name of the host's time zone, "" if it cannot be told.
func Host() string { return host() }

var pattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)

// checked returns name if it has the form of an IANA zone's name, else "".
func checked(name string) string {
	if len(name) > 64 || !pattern.MatchString(name) {
		return ""
	}
	return name
}
