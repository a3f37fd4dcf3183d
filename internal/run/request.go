package run

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"aibox/internal/run/serve"
)

// maxRequest bounds a Request's JSON in bytes.
const maxRequest = 1 << 20

// Request is what a copy of aibox is asked to run: the demo and the tests of the
// real VM send it as JSON. The fields are those of Options.
type Request struct {
	Dir, Home, Image string
	State            string
	Command, Resume  string
	Terminal         bool
	Memory, CPUs     int
	NoSandbox        bool
	Timings          bool
	Upstream         string   // URL of the Claude API, the real one by default
	APIKey           string   // as if the environment had ANTHROPIC_API_KEY
	ExtraEnv         []string // NAME=value for the session
	// Report is the number of an inherited file that takes the Report as
	// JSON at the end; 0 for none.
	Report int

	// TestOnlyHosts replaces the resolver: the addresses of each name, one list
	// after the other at each look-up, the last one for all further ones.
	TestOnlyHosts map[string][][]string
	// TestOnlyBootTimeout is for kernels that hang.
	TestOnlyBootTimeout time.Duration
}

// ReadRequest reads a Request and returns the options it stands for, with the
// process's own standard files.
func ReadRequest(r io.Reader) (Options, error) {
	var q Request
	d := json.NewDecoder(io.LimitReader(r, maxRequest))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return Options{}, fmt.Errorf("read the request: %w", err)
	}
	o := Options{
		Dir: q.Dir, Home: q.Home, State: q.State, Image: q.Image, Command: q.Command, Resume: q.Resume, Terminal: q.Terminal,
		Memory: q.Memory, CPUs: q.CPUs,
		BootTimeout: q.TestOnlyBootTimeout,
		NoSandbox:   q.NoSandbox, Timings: q.Timings, APIKey: q.APIKey, ExtraEnv: q.ExtraEnv,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	if q.Report != 0 {
		to := os.NewFile(uintptr(q.Report), "report")
		o.Report = func(r Report) { _ = json.NewEncoder(to).Encode(r) } // who asked sees that nothing came
	}
	if q.Upstream != "" {
		upstream, err := url.Parse(q.Upstream)
		if err != nil {
			return Options{}, fmt.Errorf("read the request: %w", err)
		}
		o.Upstream = upstream
	}
	if q.TestOnlyHosts != nil {
		o.Resolver = serve.Script(q.TestOnlyHosts)
	}
	return o, nil
}

// Report is what a run tells the program that asked for it.
type Report struct {
	Reached, Refused []string // host:port
	Refusals         []string // the lines for the user
}

func (b *box) hosts() (report Report) {
	for _, h := range b.services.Recorder.Reached() {
		report.Reached = append(report.Reached, h.Target)
	}
	refused, _ := b.services.Recorder.Refused()
	for _, r := range refused {
		report.Refused = append(report.Refused, r.Target)
		report.Refusals = append(report.Refusals, r.Line())
	}
	return report
}
