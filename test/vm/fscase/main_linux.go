package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"aibox/test/vm/fscase/script"
)

// Result is the outcome of one case.
type Result struct {
	Name string
	Want string // what POSIX and Linux's own file systems answer
	Got  string // a value, the error's name, or "ok"
	Took time.Duration
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fscase:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var command string
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch {
	case command == "cases" && len(args) == 3:
		return script.Run(args[0], args[1], args[2], report)
	case command == "probes" && len(args) == 1:
		return runProbes(args[0])
	case command == "verify" && len(args) == 1:
		return verify(args[0])
	case command == "hold" && len(args) == 2:
		return hold(args[0], args[1])
	case command == "pread" && len(args) == 1:
		return pread(args[0])
	}
	if len(args) != 2 {
		return errors.New("see its source for the arguments")
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	switch command {
	case "tree":
		return tree(args[0], n)
	case "drain":
		return drain(args[0], n)
	}
	return fmt.Errorf("no command %q", command)
}

// report prints a result and measures the case.
func report(name, want string, do func() (string, error)) error {
	start := time.Now()
	got := script.Outcome(do())
	return json.NewEncoder(os.Stdout).Encode(Result{name, visible(want), visible(got), time.Since(start)})
}

// visible quotes what JSON or a terminal would not show byte by byte.
func visible(s string) string {
	if quoted := strconv.QuoteToASCII(s); quoted != `"`+s+`"` {
		return quoted
	}
	return s
}

func pread(number string) error {
	fd, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	b := make([]byte, 1<<20)
	n, err := unix.Pread(fd, b, 0)
	if err != nil {
		return fmt.Errorf("read file %d: %w", fd, err)
	}
	_, err = os.Stdout.Write(b[:n])
	return err
}
