package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/internal/fault"
)

// fake plays the VM and Claude Code in it without either: it goes through the
// script over HTTP and answers each tool call by the table.
type fake struct {
	result  RunResult
	err     error
	silent  bool // ends at once
	badFile bool // does not edit
	hang    bool // waits for the deadline
}

func (f fake) run(ctx context.Context, r RunRequest) (RunResult, error) {
	if f.hang {
		<-ctx.Done()
		return RunResult{}, ctx.Err()
	}
	if f.err != nil || f.silent {
		return f.result, f.err
	}
	fmt.Fprintln(r.Stdout, `{"type":"system","subtype":"init","claude_code_version":"1"}`)
	page, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", r.AllowPort))
	if err != nil {
		return RunResult{}, err
	}
	token, err := io.ReadAll(page.Body)
	if err = errors.Join(err, page.Body.Close()); err != nil {
		return RunResult{}, err
	}
	file := filepath.Join(r.Dir, mendedFile)
	b, err := os.ReadFile(file)
	if err != nil {
		return RunResult{}, err
	}
	if !f.badFile {
		if err := os.WriteFile(file, bytes.Replace(b, []byte(brokenLine), []byte(fixedLine), 1), 0o600); err != nil {
			return RunResult{}, err
		}
	}
	last := `{"role":"user","content":` + quote(r.Command[len(r.Command)-1]) + `}`
	results := []string{failedLine, brokenLine, "ok", passedLine, string(token), "status 403 " + refusedHost}
	for n := -1; n < len(results); n++ {
		if n >= 0 {
			last = fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s%d","content":%s}]}`, idPrefix, n, quote(results[n]))
			fmt.Fprintf(r.Stdout, "{\"type\":\"user\",\"message\":%s}\n", last)
		}
		if err := post(r, `{`+tools+`,"messages":[`+last+`]}`); err != nil {
			return RunResult{}, err
		}
	}
	fmt.Fprintln(r.Stdout, `{"type":"result","subtype":"success"}`)
	res := f.result
	if res.Reached == nil {
		res.Reached = []string{fmt.Sprintf("localhost:%d", r.AllowPort)}
	}
	if res.Refused == nil {
		res.Refused = []string{refusedHost + ":80"}
	}
	return res, nil
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("bug: " + err.Error())
	}
	return string(b)
}

func post(r RunRequest, body string) error {
	req, err := http.NewRequest(http.MethodPost, r.Upstream+"/v1/messages", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-Api-Key", r.Key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func TestRunVerdict(t *testing.T) {
	machine := fault.New(fault.Machine, "install qemu", "qemu is missing")
	for _, c := range []struct {
		name       string
		fake       fake
		want, hint string // of the error; want "" means passed
	}{
		{"passes", fake{}, "", ""},
		{"exit code", fake{result: RunResult{Exit: 3}}, "exit code 3", "did not end by itself"},
		{"file not edited", fake{badFile: true}, "does not hold the edit", "not writable"},
		{"refused host connected", fake{result: RunResult{Reached: []string{"localhost:1", refusedHost + ":80"}}}, "did not note port", "loopback"},
		{"nothing refused", fake{result: RunResult{Refused: []string{"other:80"}}}, "did not note " + refusedHost, "do not use"},
		{"nothing happened", fake{silent: true, result: RunResult{Exit: 127}}, "exit code 127", "claude --version"},
		{"the VM fails", fake{err: machine}, "qemu is missing", "install qemu"},
		{"hangs", fake{hang: true}, "did not end in 50ms", "claude --version"},
	} {
		var out bytes.Buffer
		o := Options{Run: c.fake.run, Out: &out}
		if c.fake.hang {
			o.Timeout = 50 * time.Millisecond
		}
		err := Run(t.Context(), o)
		passed := strings.HasSuffix(out.String(), "\ndemo passed\n")
		switch {
		case c.want == "" && (err != nil || !passed):
			t.Errorf("%s: %v\n%s", c.name, err, out.String())
		case c.want != "" && (err == nil || passed || !strings.Contains(err.Error(), c.want) || !strings.Contains(fault.HintOf(err), c.hint)):
			t.Errorf("%s: error %v with hint %q, want %q with %q\n%s", c.name, err, fault.HintOf(err), c.want, c.hint, out.String())
		}
	}
}

func TestRunLeavesNothingBehind(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if err := Run(t.Context(), Options{Run: fake{}.run, Out: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRunPassesACancelOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, Options{Run: fake{hang: true}.run, Out: io.Discard}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestEveryStepSaysWhatToDo(t *testing.T) {
	for s := range Step(stepCount) {
		if i := s.info(); i.done == "" || i.hint == "" || i.by == 0 {
			t.Errorf("step %d: %+v", s, i)
		}
	}
}
