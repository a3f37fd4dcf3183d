package rootdisk

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Kinds of files in an inode's mode.
const (
	kindMask    = 0o170000
	kindDir     = 0o040000
	kindRegular = 0o100000
	kindLink    = 0o120000
	kindChar    = 0o020000

	stickyBit   = 0o1000
	othersWrite = 0o002
)

// guestFile is one name on the root disk.
type guestFile struct {
	mode, uid, gid int
	size           int64
}

// ListScript makes debugfs list each of dirs after a line that names it.
func ListScript(dirs []string) string {
	var b strings.Builder
	for _, dir := range dirs {
		// The command is printed before its answer, as "debugfs: ls -p …".
		fmt.Fprintf(&b, "ls -p \"/%s\"\n", dir)
	}
	return b.String()
}

// parseListing reads the answer to ListScript: lines such as
// "/12/100755/0/0/bash/1234/", by the name from the root.
func parseListing(text string) (map[string]guestFile, error) {
	const command = "debugfs: ls -p "
	files := map[string]guestFile{}
	dir := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(line, command); ok {
			dir = strings.Trim(name, `"/`)
			continue
		}
		if line == "" {
			continue
		}
		// Names hold no "/", so the fields are always at the same places.
		field := strings.Split(line, "/")
		if len(field) != 8 {
			return nil, fmt.Errorf("%q is no line of a listing", line)
		}
		if field[5] == "." || field[5] == ".." {
			continue
		}
		mode, err := strconv.ParseInt(field[2], 8, 32)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		f := guestFile{mode: int(mode)}
		for _, number := range []struct {
			to   *int
			text string
		}{{&f.uid, field[3]}, {&f.gid, field[4]}} {
			if *number.to, err = strconv.Atoi(number.text); err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
		}
		if field[6] != "" { // folders have none
			if f.size, err = strconv.ParseInt(field[6], 10, 64); err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
		}
		files[path.Join(dir, field[5])] = f
	}
	return files, nil
}

// Audit reads debugfs's answer to ListScript and returns one line for each file
// that breaks the guest's rules.
func Audit(listing string, test bool) ([]string, error) {
	files, err := parseListing(listing)
	if err != nil {
		return nil, err
	}
	return audit(files, test), nil
}

// audit returns one line for each file that breaks the guest's rules: nobody
// gains rights by a program, nobody but root owns a file, what must be there
// is there and can run, and the helper of the test image is nowhere else.
func audit(files map[string]guestFile, test bool) []string {
	var problems []string
	report := func(name, format string, args ...any) {
		problems = append(problems, "/"+name+": "+fmt.Sprintf(format, args...))
	}
	for name, f := range files {
		kind := f.mode & kindMask
		if f.uid != 0 {
			report(name, "is owned by the user %d, not root", f.uid)
		}
		if f.mode&setIDBits != 0 && !mayBeSetuid(name) && !(test && name == TestRoot) {
			report(name, "gives rights: mode %o", f.mode)
		}
		if kind != kindLink && kind != kindChar && f.mode&othersWrite != 0 && f.mode&stickyBit == 0 {
			report(name, "anyone may write: mode %o", f.mode)
		}
		if kind != kindDir && kind != kindRegular && kind != kindLink && name != "dev/console" && name != "dev/null" {
			report(name, "is no plain file: mode %o", f.mode)
		}
		if strings.HasPrefix(name, TestDir) && !test {
			report(name, "belongs to the test image only")
		}
	}
	for name, mode := range required(test) {
		if f, found := files[name]; !found {
			report(name, "is missing")
		} else if f.mode != mode {
			report(name, "has the mode %o, want %o", f.mode, mode)
		} else if f.size == 0 && mode&kindMask == kindRegular {
			report(name, "is empty")
		}
	}
	slices.Sort(problems)
	return problems
}

// required maps what the guest cannot do without to its mode.
func required(test bool) map[string]int {
	const program, setuid = kindRegular | 0o755, kindRegular | 0o4755
	files := map[string]int{
		Init:                                program,
		Claude:                              program,
		RunPrompt:                           kindRegular | 0o644,
		TaskPrompt:                          kindRegular | 0o644,
		"etc/nsswitch.conf":                 kindRegular | 0o644,
		"etc/ssl/certs/ca-certificates.crt": kindRegular | 0o644,
		"usr/bin/newuidmap":                 setuid,
		"usr/bin/newgidmap":                 setuid,
		"dev/console":                       kindChar | 0o600,
		"dev/null":                          kindChar | 0o666,
		varTmp:                              kindLink | 0o777,
	}
	for _, name := range []string{"bash", "claude", "curl", "git", "jq", "patch", "podman", "rg", "ssh"} {
		files["usr/bin/"+name] = program
	}
	if test {
		files[TestRoot] = setuid
	}
	return files
}
