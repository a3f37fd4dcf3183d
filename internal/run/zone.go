package run

import "regexp"

var zonePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)

// zoneName returns name if it has the form of an IANA zone's name, else "".
func zoneName(name string) string {
	if len(name) > 64 || !zonePattern.MatchString(name) {
		return ""
	}
	return name
}
