package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// counts are how many tests ended which way.
type counts struct{ passed, failed, skipped int }

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// event is one line of test2json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

type key struct{ pkg, test string }

type tally struct {
	counts
	out    io.Writer
	quiet  bool
	broken []string // packages that failed without a test that failed
	output map[key][]string
	blamed map[string]bool // packages with a test that failed
}

// maxKept bounds the lines of output kept of one test.
const maxKept = 2000

func (t *tally) line(b []byte) {
	var e event
	if json.Unmarshal(b, &e) != nil {
		fmt.Fprintln(t.out, string(b)) // the compiler's, or a panic's
		return
	}
	k := key{e.Package, e.Test}
	switch e.Action {
	case "output", "build-output":
		if len(t.output[k]) < maxKept {
			t.output[k] = append(t.output[k], e.Output)
		}
	case "build-fail":
		fmt.Fprint(t.out, strings.Join(t.output[k], ""))
	case "pass", "fail", "skip":
		t.end(e, k)
		delete(t.output, k)
	}
}

func (t *tally) end(e event, k key) {
	if e.Action == "fail" {
		fmt.Fprint(t.out, strings.Join(t.output[k], ""))
	}
	if e.Test == "" {
		if e.Action == "fail" && !t.blamed[e.Package] {
			t.broken = append(t.broken, e.Package)
			t.printUnended(e.Package)
		}
		return
	}
	if strings.Contains(e.Test, "/") {
		return
	}
	switch e.Action {
	case "pass":
		t.passed++
	case "skip":
		t.skipped++
		fmt.Fprint(t.out, strings.Join(t.output[k], ""))
	case "fail":
		t.failed++
		if t.blamed == nil {
			t.blamed = map[string]bool{}
		}
		t.blamed[e.Package] = true
	}
	if !t.quiet || e.Action != "pass" {
		fmt.Fprintf(t.out, "%-4s %s %s (%.1f s)\n", e.Action, strings.TrimPrefix(e.Package, "aibox/"), e.Test, e.Elapsed)
	}
}

// printUnended prints the output of a package's tests that never ended: one of
// them hung or brought the package down.
func (t *tally) printUnended(pkg string) {
	for k, output := range t.output {
		if k.pkg == pkg && k.test != "" {
			fmt.Fprint(t.out, strings.Join(output, ""))
		}
	}
}

func (t *tally) verdict() error {
	switch {
	case len(t.broken) > 0:
		return fmt.Errorf("failed outside a test: %s", strings.Join(t.broken, " "))
	case t.failed > 0:
		return errors.New("tests failed")
	case t.passed == 0:
		return errors.New("no test passed")
	}
	return nil
}

// add appends the counts to the file.
func (t *tally) add(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(f, t.counts); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

func printTotal(out io.Writer, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var sum counts
	for line := range strings.Lines(string(text)) {
		var c counts
		if _, err := fmt.Sscanf(line, "%d passed, %d failed, %d skipped", &c.passed, &c.failed, &c.skipped); err != nil {
			return fmt.Errorf("%s: %q: %w", path, line, err)
		}
		sum = counts{sum.passed + c.passed, sum.failed + c.failed, sum.skipped + c.skipped}
	}
	_, err = fmt.Fprintln(out, sum)
	return err
}
