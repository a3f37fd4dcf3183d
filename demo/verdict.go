package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"aibox/internal/fault"
	"aibox/internal/plain"
)

// checkRun tells the board what aibox itself knows once the VM is gone.
func checkRun(b *board, dir string, port int, r RunResult, stderr string) {
	switch {
	case r.Exit == 0:
		b.saw(Ended, byRun)
	case stderr != "":
		b.failed(Ended, fmt.Errorf("the command ended with exit code %d: %s", r.Exit, stderr))
	default:
		b.failed(Ended, fmt.Errorf("the command ended with exit code %d", r.Exit))
	}
	b.check(Edited, checkFile(dir))
	b.check(HostReached, checkReached(r, port))
	b.check(HostRefused, checkRefused(r))
}

// check notes aibox's own word on a step. On a step that nobody else saw its
// refusal would explain nothing.
func (b *board) check(s Step, err error) {
	switch {
	case err == nil:
		b.saw(s, byRun)
	case b.anyone(s):
		b.failed(s, err)
	}
}

// checkFile compares the mended file on the host with what the script wrote.
func checkFile(dir string) error {
	old, got, err := mendedVersions(dir)
	if err != nil {
		return fmt.Errorf("the edited file on the host: %w", err)
	}
	if want := bytes.ReplaceAll(old, []byte(brokenLine), []byte(fixedLine)); !bytes.Equal(got, want) {
		return errors.New("the file on the host does not hold the edit")
	}
	return nil
}

// mendedVersions returns the file as it was and as it is. It runs no git here:
// the VM could write the repository's settings and hooks.
func mendedVersions(dir string) (old, now []byte, err error) {
	files, err := sampleFiles()
	if err != nil {
		return nil, nil, err
	}
	now, err = readMended(dir)
	return files[mendedFile], now, err
}

func checkReached(r RunResult, port int) error {
	for _, h := range r.Reached {
		if _, p, err := net.SplitHostPort(h); err == nil && p == strconv.Itoa(port) {
			return nil
		}
	}
	return fmt.Errorf("the proxy did not note port %d of the loopback as reached", port)
}

func checkRefused(r RunResult) error {
	is := func(h string) bool { return h == refusedHost || strings.HasPrefix(h, refusedHost+":") }
	for _, h := range r.Reached {
		if is(h) {
			return fmt.Errorf("the proxy connected %s", refusedHost)
		}
	}
	for _, h := range r.Refused {
		if is(h) {
			return nil
		}
	}
	return fmt.Errorf("the proxy did not note %s as refused", refusedHost)
}

// verdict prints the diff, the hosts and the last line, and returns an error
// unless every step passed.
func verdict(out io.Writer, b *board, dir string, r RunResult) error {
	old, now, err := mendedVersions(dir)
	if err == nil {
		if diff := unifiedDiff(mendedFile, old, now); diff != "" {
			fmt.Fprintf(out, "\nchanges in the project:\n%s", diff)
		}
	}
	fmt.Fprintf(out, "\nhosts reached: %s\nhosts refused: %s\n", list(r.Reached), list(r.Refused))
	for _, line := range r.Refusals[:min(len(r.Refusals), maxHosts)] {
		fmt.Fprintf(out, "  %s\n", plain.Line(line))
	}
	missed := b.missed()
	if len(missed) == 0 {
		fmt.Fprintln(out, "\nThe replies were scripted; all else was real.\ndemo passed")
		return nil
	}
	fmt.Fprintln(out)
	for _, m := range missed {
		fmt.Fprintf(out, "not passed: %s: %s\n", m.step, m.why)
	}
	if r.Logs != "" {
		fmt.Fprintf(out, "logs of this run: %s\n", r.Logs)
	}
	m := cause(missed)
	return fault.New(fault.Failed, m.step.info().hint, "demo failed: not passed: %s: %s", m.step, m.why)
}

// cause picks the step to name: a failure that a witness told explains more
// than a step that never came.
func cause(list []missing) missing {
	for _, m := range list {
		if m.told && m.step != Ended {
			return m
		}
	}
	for _, m := range list {
		if m.told && list[0].step == Started {
			return missing{Started, m.why, true}
		}
	}
	return list[0]
}

// list joins hosts, made printable.
func list(hosts []string) string {
	if len(hosts) == 0 {
		return "none"
	}
	more := ""
	if len(hosts) > maxHosts {
		more = fmt.Sprintf(" and %d more", len(hosts)-maxHosts)
		hosts = hosts[:maxHosts]
	}
	return plain.Line(strings.Join(hosts, ", ")) + more
}
