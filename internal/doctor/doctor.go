// Package doctor checks what a run needs of this machine, without booting
// anything. It asks the packages that a run uses, so that a check and a failed
// run give the same reason and the same hint.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"aibox/internal/fault"
	"aibox/internal/image"
	"aibox/internal/plain"
)

// Host is the machine as the caller sees it.
type Host struct {
	UID    int
	Kernel string // release of the kernel; empty where it does not matter
	Home   string
	Lookup func(string) (string, bool) // os.LookupEnv
	Image  string                      // folder of the image to check; empty for the one a run finds
	Build  image.Build
}

// Status is a check's outcome.
type Status string

// The outcomes. Only a Failure keeps a run from working.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Failure Status = "failure"
)

// Result is what one check found. Fields are only ever added.
type Result struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // what to do, for other outcomes than OK
}

// check is one thing that is checked; ok is false where it does not apply.
type check struct {
	name string
	do   func(context.Context, Host) (r Result, ok bool)
}

// checkTime bounds each check: a program that hangs is no reason to.
const checkTime = 20 * time.Second

// Check runs all checks in order. It changes nothing on the machine.
func Check(ctx context.Context, h Host) []Result {
	var results []Result
	for _, c := range append(platform(), everywhere()...) {
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		r, ok := c.do(ctx, h)
		cancel()
		if !ok {
			continue
		}
		r.Name, r.Text, r.Fix = c.name, plain.Line(r.Text), plain.Line(r.Fix)
		results = append(results, r)
	}
	return results
}

func everywhere() []check {
	return []check{
		{"user", user},
		{"home", home},
		{"disk space", diskSpace},
		{"image", theImage},
		{"git", git},
		{"clipboard", clipboard},
		{"proxy", proxy},
		{"certificates", certificates},
	}
}

func ok(format string, args ...any) (Result, bool) {
	return Result{Status: OK, Text: fmt.Sprintf(format, args...)}, true
}

func warn(fix, format string, args ...any) (Result, bool) {
	return Result{Status: Warning, Text: fmt.Sprintf(format, args...), Fix: fix}, true
}

// fail is a Failure in the words of the error that a run would give.
func fail(err error) (Result, bool) {
	return Result{Status: Failure, Text: err.Error(), Fix: fault.HintOf(err)}, true
}

// Failures counts what would keep a run from working.
func Failures(results []Result) (n int) {
	for _, r := range results {
		if r.Status == Failure {
			n++
		}
	}
	return n
}

// Write prints the results as a table with a line for each fix.
func Write(w io.Writer, results []Result) {
	for _, r := range results {
		fmt.Fprintf(w, "%-8s %-13s %s\n", r.Status, r.Name, r.Text)
		if r.Fix != "" {
			fmt.Fprintf(w, "%s fix: %s\n", strings.Repeat(" ", 22), r.Fix)
		}
	}
}

// WriteJSON prints the results as JSON.
func WriteJSON(w io.Writer, results []Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		OK     bool     `json:"ok"`
		Checks []Result `json:"checks"`
	}{Failures(results) == 0, results})
}
