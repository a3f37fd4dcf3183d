package boot

import (
	"fmt"
	"strings"
)

const zoneInfo = "/usr/share/zoneinfo/"

// validHostname tells whether name is one label of a host's name.
func validHostname(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return name != "" && len(name) <= 63 && name[0] != '-' && name[len(name)-1] != '-'
}

// hostsFile is /etc/hosts, the only source of names in the VM.
func hostsFile(hostname string) string {
	return fmt.Sprintf("127.0.0.1\tlocalhost\n127.0.1.1\t%s\n::1\tlocalhost ip6-localhost ip6-loopback\n", hostname)
}

// validZone tells whether name can be an IANA time zone; it becomes a path
// below zoneInfo.
func validZone(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' {
			return false
		}
		for _, c := range []byte(part) {
			alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
			if !alnum && !strings.ContainsRune("_+-.", rune(c)) {
				return false
			}
		}
	}
	return true
}

// profile gives login shells the session's PATH, which /etc/profile replaces.
func profile(path string) string {
	return "PATH='" + strings.ReplaceAll(path, "'", `'\''`) + "'\nexport PATH\n"
}
