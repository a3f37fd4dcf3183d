package script

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

//go:embed cases.txt
var casesText string

// script is one line of cases.txt.
type script struct {
	name  string
	steps [][]string
	want  string
}

// parseScripts reads lines of steps, separated by ";", and behind "=" the
// outcome of the last step, else "ok". All steps before must work. Words in
// quotes are as in Go.
func parseScripts(text string) (list []script, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		s, err := parseScript(line)
		if err != nil {
			return nil, fmt.Errorf("cases.txt: %s: %w", line, err)
		}
		list = append(list, s)
	}
	return list, nil
}

func parseScript(line string) (script, error) {
	s := script{name: line, steps: [][]string{nil}, want: "ok"}
	wanted := false
	for rest := line; rest != ""; rest = strings.TrimLeft(rest, " ") {
		word, text, err := cutWord(rest)
		if err != nil {
			return s, err
		}
		switch last := len(s.steps) - 1; {
		case word == "=" && !wanted:
			wanted = true
			s.name, s.want = strings.TrimSpace(line[:len(line)-len(rest)]), ""
		case wanted:
			s.want = strings.TrimPrefix(s.want+" "+text, " ")
		case word == ";":
			s.steps = append(s.steps, nil)
		default:
			s.steps[last] = append(s.steps[last], text)
		}
		rest = rest[len(word):]
	}
	for _, step := range s.steps {
		if len(step) == 0 || ops()[step[0]].do == nil {
			return s, fmt.Errorf("no operation %q", step)
		}
		if n := len(step) - 1; n < ops()[step[0]].least || n > ops()[step[0]].most {
			return s, fmt.Errorf("%d arguments of %s", n, step[0])
		}
	}
	return s, nil
}

// cutWord returns the first word of a line as written and what it stands for.
func cutWord(line string) (word, text string, err error) {
	if line[0] != '"' {
		word, _, _ = strings.Cut(line, " ")
		return word, word, nil
	}
	if word, err = strconv.QuotedPrefix(line); err != nil {
		return "", "", err
	}
	text, err = strconv.Unquote(word)
	return word, text, err
}

// world is what the steps of one script have in common.
type world struct {
	names  map[string]string // what $NAME stands for
	fds    []int             // in the order of their opening
	fd     int               // the one that steps use
	marked unix.Stat_t
}

// Report is given each case: its name, what a local disk answers, and the case
// itself, which returns a value or an error. See Outcome.
type Report func(name, want string, do func() (string, error)) error

// Run runs each script in a new folder below dir and reports it. readOnly is a
// folder that must not be written, with "file" and "dir" in it, and other one on
// another file system.
func Run(dir, readOnly, other string, report Report) error {
	scripts, err := parseScripts(casesText)
	if err != nil {
		return err
	}
	names := map[string]string{
		"$RO": readOnly, "$OTHER": other,
		"$255": strings.Repeat("n", 255), "$256": strings.Repeat("n", 256),
		"$4095": strings.Repeat("./", 2047) + "f", "$4096": strings.Repeat("./", 2048),
	}
	top, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer top.Close()
	if err := top.Chdir(); err != nil {
		return err
	}
	for i, s := range scripts {
		place := fmt.Sprintf("case%03d", i) // short ways: each folder on the way costs a share a call
		if err := s.prepare(place); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		err := report(s.name, s.want, func() (string, error) { return s.run(&world{names: names, fd: -1}) })
		if err = errors.Join(err, leave(top, place)); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// prepare makes the script's folder with what the script names of:
//
//	f         a file that holds "content"
//	d, full   an empty folder, and one with the file x, which holds "x"
//	lf, ld    links to f and d
//	dangling  a link to nothing; loop: a link to itself
func (s script) prepare(place string) error {
	if err := os.Mkdir(place, 0o755); err != nil {
		return err
	}
	if err := os.Chdir(place); err != nil {
		return err
	}
	named := map[string]bool{}
	for _, step := range s.steps {
		for _, word := range step[1:] {
			first, _, _ := strings.Cut(strings.TrimPrefix(word, "../"), "/")
			named[first] = true
		}
	}
	var err error
	do := func(needed bool, f func() error) {
		if needed {
			err = errors.Join(err, f())
		}
	}
	do(named["f"] || named["lf"] || named["$4095"], func() error { return os.WriteFile("f", []byte("content"), 0o644) })
	do(named["d"] || named["ld"], func() error { return os.Mkdir("d", 0o755) })
	do(named["full"], func() error { return os.Mkdir("full", 0o755) })
	do(named["full"], func() error { return os.WriteFile("full/x", []byte("x"), 0o644) })
	for name, target := range map[string]string{"lf": "f", "ld": "d", "dangling": "missing", "loop": "loop"} {
		do(named[name], func() error { return os.Symlink(target, name) })
	}
	return err
}

// leave removes a script's folder, whatever modes the script left in it.
func leave(top *os.File, place string) error {
	unix.Umask(0o022)
	if err := top.Chdir(); err != nil {
		return err
	}
	err := os.RemoveAll(place)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(place, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(place)
}

// Outcome puts a value or an error into words by which two file systems can be
// compared: an error number's name where there is one.
func Outcome(value string, err error) string {
	var errno syscall.Errno
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return "EOPNOTSUPP" // ENOTSUP is the same number
	case errors.As(err, &errno):
		return unix.ErrnoName(errno)
	case err != nil:
		return err.Error()
	}
	return value
}

func (s script) run(w *world) (value string, err error) {
	defer func() {
		for _, fd := range w.fds {
			_ = unix.Close(fd)
		}
	}()
	for i, step := range s.steps {
		args := make([]string, len(step)-1)
		for i, a := range step[1:] {
			for name, text := range w.names {
				if rest, found := strings.CutPrefix(a, name); found && (rest == "" || rest[0] == '/') {
					a = text + rest
				}
			}
			args[i] = a
		}
		value, err = ops()[step[0]].do(w, args)
		if err != nil && i < len(s.steps)-1 {
			return "", fmt.Errorf("step %s: %s", strings.Join(step, " "), Outcome("", err))
		}
	}
	return value, err
}
