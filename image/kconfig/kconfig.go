// Package kconfig reads the guest kernel's configuration files and compares a
// final .config with what must be set and what must not. The kernel's own
// tools drop an option silently when a dependency is missing, so a fragment
// alone proves nothing: the build asks this package about the result.
package kconfig

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// maxLine bounds a line; the longest of a real .config is below 200 bytes.
const maxLine = 64 << 10

// Config maps an option's name to its value. An option that is "not set" is
// absent, which is how the kernel's build sees it.
type Config map[string]string

// ReadConfig reads a .config or a fragment. A line that is neither an option,
// a comment nor blank is an error with its number, as is an option given twice.
func ReadConfig(r io.Reader) (Config, error) {
	set := regexp.MustCompile(`^(CONFIG_[A-Za-z0-9_]+)=(.+)$`)
	config := Config{}
	err := eachLine(r, func(line string) error {
		m := set.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("%q is no option", line)
		}
		if _, twice := config[m[1]]; twice {
			return fmt.Errorf("%s is given twice", m[1])
		}
		if m[2] != "n" {
			config[m[1]] = m[2]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return config, nil
}

// ReadNames reads a list of option names, one a line, sorted and without
// duplicates.
func ReadNames(r io.Reader) ([]string, error) {
	name := regexp.MustCompile(`^CONFIG_[A-Za-z0-9_]+$`)
	var names []string
	err := eachLine(r, func(line string) error {
		if !name.MatchString(line) {
			return fmt.Errorf("%q is no option's name", line)
		}
		names = append(names, line)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// eachLine calls f for each line that is neither blank nor a comment.
func eachLine(r io.Reader, f func(string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := f(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	return nil
}
