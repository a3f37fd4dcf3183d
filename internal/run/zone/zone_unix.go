//go:build unix

package zone

import (
	"os"
	"path/filepath"
	"strings"
)

func host() string {
	if name, set := os.LookupEnv("TZ"); set {
		return checked(strings.TrimPrefix(name, ":"))
	}
	target, err := filepath.EvalSymlinks("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(target, "/zoneinfo/")
	return checked(name)
}
