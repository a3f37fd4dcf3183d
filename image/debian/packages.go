package debian

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// Package is one of Debian's packages in the root file system.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ParseStatus reads dpkg's list of packages, sorted by name.
func ParseStatus(status []byte) ([]Package, error) {
	var packages []Package
	for paragraph := range strings.SplitSeq(string(status), "\n\n") {
		var p Package
		installed := false
		for line := range strings.Lines(paragraph) {
			switch field, value, _ := strings.Cut(strings.TrimSpace(line), ": "); {
			case strings.HasPrefix(line, " "): // goes on with the field before
			case field == "Package":
				p.Name = value
			case field == "Version":
				p.Version = value
			case field == "Status":
				installed = strings.HasSuffix(value, " installed")
			}
		}
		if installed && p.Name != "" {
			packages = append(packages, p)
		}
	}
	if len(packages) == 0 {
		return nil, errors.New("the root file system has no installed package")
	}
	slices.SortFunc(packages, func(a, b Package) int { return cmp.Compare(a.Name, b.Name) })
	return packages, nil
}
