package task

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/internal/border/results"
	"aibox/internal/fault"
	"aibox/internal/wire"
)

// newTask returns the options of a task in a project with two commits, whose
// VM is boot.
func newTask(t *testing.T, boot func(context.Context, VM) error) (*place, Options, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	p := newPlace(t)
	p.do("src", `git config --global init.defaultBranch main; git init -q "my project"; cd "my project"; `+oneTwo)
	kept := p.home + "/.aibox/projects/" + strings.NewReplacer("/", "-", " ", "_20", "_", "_5f").Replace(p.project)
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept+"/config.yaml", []byte("env: [ANTHROPIC_API_KEY]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	return p, Options{
		Limits: Limits{Timeout: time.Hour}, Home: p.home, Dir: p.project, From: "HEAD", Prompt: "do it\nwell",
		Lookup: func(string) (string, bool) { return "sk-ant-test", true }, Stdout: &out, Stderr: &errs, Now: time.Now, Boot: boot,
	}, &out, &errs
}

// tarFile appends a file to a tar of results.
func tarFile(tar []byte, name, text string) []byte {
	h := wire.ResultHeader(name, int64(len(text)))
	return append(append(append(tar, h[:]...), text...), make([]byte, wire.ResultPadding(int64(len(text))))...)
}

func tarEnd(tar []byte) []byte { return append(tar, make([]byte, 2*wire.ResultBlock)...) }

const finished = `{"outcome":"finished","turns":2,"last_message":"well done"}`

// live sends what Claude Code prints.
func live(t *testing.T, file *results.Live, text string) {
	t.Helper()
	vm, host := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		file.Serve(host)
	}()
	if _, err := io.WriteString(vm, text); err != nil {
		t.Error(err)
	}
	vm.Close()
	<-done
}

// cutStream is a VM whose results are whole, but not what came before.
func cutStream() func(context.Context, VM) error {
	return func(_ context.Context, vm VM) error {
		host, end := net.Pipe()
		go func() {
			_, _ = io.WriteString(end, "{")
			end.Close()
		}()
		vm.Transcript.Serve(cut{host})
		_, err := vm.Results.Write(tarEnd(tarFile(nil, wire.ResultFile, finished)))
		return err
	}
}

// cut is a connection that breaks off.
type cut struct{ net.Conn }

func (c cut) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// bundleOn is a bundle on a commit whose pack holds nothing that exists.
func bundleOn(start string) string {
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), 1)
	pack = append(pack, "0123456789abcdef"...)
	sum := sha1.Sum(pack)
	return "# v2 git bundle\n-" + start + " x\n" + strings.Repeat("1", 40) + " " + wire.TaskRef + "\n\n" + string(pack) + string(sum[:])
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func TestTaskRunsToItsEnd(t *testing.T) {
	var p *place
	p, o, out, errs := newTask(t, func(_ context.Context, vm VM) error {
		start := p.do("src/my project", "git rev-parse HEAD")
		for _, name := range []string{wire.TaskPromptFile, wire.TaskSettingsFile, wire.TaskRepository} {
			if info, err := os.Stat(filepath.Join(vm.Share.Name(), name)); err != nil || info.Size() == 0 {
				t.Errorf("share: %s: %v, %v", name, info, err)
			}
		}
		var settings wire.TaskSettings
		readJSON(t, filepath.Join(vm.Share.Name(), wire.TaskSettingsFile), &settings)
		if settings.Start != start || settings.Format != "sha1" || settings.TimeoutSeconds != 3600 {
			t.Errorf("settings %+v", settings)
		}
		if alive, err := vm.Task.Alive(); !alive || err != nil {
			t.Errorf("alive = %v, %v", alive, err)
		}
		_, _ = io.WriteString(vm.Said, "turn 1\n")
		_, _ = io.WriteString(vm.Own, "aibox: a warning\n")
		live(t, vm.Transcript, "{}\n")
		_, err := vm.Results.Write(tarEnd(tarFile(tarFile(nil, wire.ChangesFile, bundleOn(start)), wire.ResultFile, finished)))
		vm.Hosts([]string{"api.example:443"}, []string{"evil.example:443"})
		return err
	})
	o.Plan = false
	if err := Run(t.Context(), o); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	dir := strings.TrimSpace(out.String())
	var r Record
	readJSON(t, filepath.Join(dir, "result.json"), &r)
	if !r.Finished || r.Problem != "" || r.Tip != strings.Repeat("1", 40) || r.VM.Turns != 2 || len(r.Reached) != 1 || len(r.Refused) != 1 {
		t.Errorf("record %+v", r)
	}
	for _, want := range []string{
		"] this task may reach:", "] turn 1\n", "] a warning\n", "hosts reached: api.example:443", "hosts refused: evil.example:443",
		"| well done", "finished after", "review the changes with: git -C '" + p.project + "' -c transfer.fsckObjects=true",
	} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, errs)
		}
	}
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "changes.bundle claude.log lock result.json share transcript.jsonl" || err != nil {
		t.Errorf("the folder holds %s, %v", got, err)
	}
	errs.Reset()
	if err := Run(t.Context(), o); err != nil || strings.Contains(errs.String(), "may reach") {
		t.Errorf("a second task: %v\n%s", err, errs)
	}
}

func TestTasksThatFail(t *testing.T) {
	send := func(tar []byte) func(context.Context, VM) error {
		return func(_ context.Context, vm VM) error {
			live(t, vm.Transcript, "{\"a\":1}\n")
			_, err := vm.Results.Write(tar)
			return err
		}
	}
	lost := fault.New(fault.Failed, "look at the console", "the VM ended before the session did")
	const kept = "transcript.jsonl)\n"
	for name, c := range map[string]struct {
		boot func(context.Context, VM) error
		want string
		kept string
		kind fault.Kind
	}{
		"no QEMU":            {func(context.Context, VM) error { return fault.New(fault.Machine, "apt install x", "QEMU is missing") }, "QEMU is missing", "only logs", fault.Machine},
		"dead VM":            {func(_ context.Context, vm VM) error { live(t, vm.Transcript, "{"); return lost }, "the VM ended before", kept, fault.Failed},
		"cut stream":         {cutStream(), "transcript.jsonl: unexpected EOF", kept, fault.Failed},
		"no results":         {func(context.Context, VM) error { return nil }, "end too early", "only logs", fault.Failed},
		"another start":      {send(tarFile(nil, wire.ChangesFile, bundleOn(strings.Repeat("2", 40)))), "another commit than the start commit", kept, fault.Failed},
		"hostile name":       {send(tarFile(nil, "x", "")), "none of theirs", kept, fault.Failed},
		"twice":              {send(tarFile(tarFile(nil, wire.ResultFile, finished), wire.ResultFile, finished)), "go on after", kept, fault.Failed},
		"truncated":          {send(tarFile(nil, wire.ResultFile, finished)[:520]), "too early", kept, fault.Failed},
		"more after the end": {send(append(tarEnd(tarFile(nil, wire.ResultFile, finished)), 'x')), "do not end", "", fault.Failed},
		"says timeout":       {send(tarEnd(tarFile(nil, wire.ResultFile, `{"outcome":"timeout","reason":"late"}`))), "the VM says timeout", "", fault.Failed},
		"says nonsense":      {send(tarEnd(tarFile(nil, wire.ResultFile, `{"outcome":"\u001b"}`))), "no outcome that exists", "", fault.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			_, o, out, errs := newTask(t, c.boot)
			err := Run(t.Context(), o)
			told := (*ToldError)(nil)
			if !errors.As(err, &told) || !strings.Contains(err.Error(), c.want) || fault.KindOf(err) != c.kind {
				t.Fatalf("error %v, kind %d, want %q", err, fault.KindOf(err), c.want)
			}
			if !strings.Contains(errs.String(), c.want) || !strings.Contains(errs.String(), "kept: "+strings.TrimSpace(out.String())) || !strings.Contains(errs.String(), c.kept) {
				t.Errorf("stderr:\n%s", errs)
			}
			if c.kept == kept && !strings.Contains(errs.String(), "] no commits came back\n") {
				t.Errorf("it is not said that nothing came back:\n%s", errs)
			}
			if strings.Contains(errs.String(), "fetch") {
				t.Errorf("a fetch is offered:\n%s", errs)
			}
			var r Record
			readJSON(t, filepath.Join(strings.TrimSpace(out.String()), "result.json"), &r)
			if r.Finished || !strings.Contains(r.Problem, c.want) {
				t.Errorf("record %+v", r)
			}
		})
	}
}

func TestUnusableBundleIsNotOfferedButWorkOfAStoppedTaskIs(t *testing.T) {
	var p *place
	p, o, _, errs := newTask(t, func(_ context.Context, vm VM) error {
		start := p.do("src/my project", "git rev-parse HEAD")
		_, err := vm.Results.Write(tarEnd(tarFile(tarFile(nil, wire.ChangesFile, bundleOn(start)), wire.ResultFile, `{"outcome":"failed","reason":"max turns"}`)))
		return err
	})
	if err := Run(t.Context(), o); err == nil || !strings.Contains(errs.String(), "review the changes with") {
		t.Errorf("error %v\n%s", err, errs)
	}
}

func TestTheEndOfTheContextAsksTheVM(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, o, _, errs := newTask(t, func(vmCtx context.Context, vm VM) error {
		cancel()
		if _, err := io.ReadAll(vm.Stdin); err != nil { // ends when it is asked
			t.Error(err)
		}
		if vmCtx.Err() != nil {
			t.Error("the VM's own context ended")
		}
		_, err := vm.Results.Write(tarEnd(tarFile(nil, wire.ResultFile, `{"outcome":"stopped"}`)))
		return err
	})
	err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) || !strings.Contains(errs.String(), "stopping Claude Code") {
		t.Errorf("error %v\n%s", err, errs)
	}
}

// A disk that gets full while the task runs: what was stored is kept and named,
// the rest of the results is looked at, and the record is written.
func TestFullDiskIsNamed(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("found no /dev/full: %v", err)
	}
	defer full.Close()
	for name, c := range map[string]struct {
		transcript, changes io.Writer
		want, kept          string
	}{
		"transcript": {full, io.Discard, "transcript.jsonl: no space left on device", "(changes.bundle)"},
		"bundle":     {io.Discard, full, "changes.bundle: no space left on device", "(transcript.jsonl)"},
	} {
		p, o, _, errs := newTask(t, nil)
		j, err := prepare(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer j.close()
		start := p.do("src/my project", "git rev-parse HEAD")
		j.Boot = func(_ context.Context, vm VM) error {
			live(t, vm.Transcript, "{}\n")
			_, err := vm.Results.Write(tarEnd(tarFile(tarFile(nil, wire.ChangesFile, bundleOn(start)), wire.ResultFile, finished)))
			return err
		}
		var record bytes.Buffer
		e := j.boot(t.Context(), full, outputs{transcript: c.transcript, log: io.Discard, changes: c.changes})
		err = j.report(t.Context(), e, &record)
		if err == nil || fault.KindOf(err) != fault.Failed || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		for _, want := range []string{"hint: free some space", "] outcome: finished", c.kept + "\n"} {
			if !strings.Contains(errs.String(), want) {
				t.Errorf("%s: stderr lacks %q:\n%s", name, want, errs)
			}
		}
		var r Record
		if err := json.Unmarshal(record.Bytes(), &r); err != nil || r.Finished || (r.Tip != "") != (name == "transcript") {
			t.Errorf("%s: record %+v, %v", name, r, err)
		}
	}
}

func TestEventsOfATask(t *testing.T) {
	_, o, out, _ := newTask(t, func(_ context.Context, vm VM) error {
		_, err := vm.Results.Write(tarEnd(tarFile(nil, wire.ResultFile, finished)))
		return err
	})
	o.JSON = true
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	var last endEvent
	for line := range strings.Lines(out.String()) {
		var e struct{ Event, Task string }
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Task == "" {
			t.Errorf("event %q: %v", line, err)
		}
		kinds = append(kinds, e.Event)
		_ = json.Unmarshal([]byte(line), &last)
	}
	if kinds[0] != "start" || kinds[len(kinds)-1] != "end" || !last.Result.Finished {
		t.Errorf("events %q, last %+v", kinds, last)
	}
}

func TestALoginIsNeeded(t *testing.T) {
	_, o, out, _ := newTask(t, nil)
	o.Lookup = func(string) (string, bool) { return "", false }
	err := Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY is not set here") || fault.KindOf(err) != fault.Failed || out.Len() > 0 {
		t.Errorf("error %v, stdout %q", err, out)
	}
}

func TestAPackThatCannotBeMadeIsRecorded(t *testing.T) {
	p, o, out, errs := newTask(t, nil)
	p.do("src/my project", "rm -f .git/objects/$(git rev-parse HEAD:a | sed 's,..,&/,')")
	if err := Run(t.Context(), o); err == nil || !strings.Contains(errs.String(), "cannot pack the start commit") {
		t.Fatalf("error %v\n%s", err, errs)
	}
	var r Record
	readJSON(t, filepath.Join(strings.TrimSpace(out.String()), "result.json"), &r)
	if r.Finished || !strings.Contains(r.Problem, "cannot pack") {
		t.Errorf("record %+v", r)
	}
}
