package doctor

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"aibox/internal/fault"
)

func TestOldKernel(t *testing.T) {
	for release, ok := range map[string]bool{
		"": true, "6.7.0": true, "6.7-rc1": true, "6.12.48+deb13-amd64": true, "7.0.1": true, "10.1": true,
		"6.6.99": false, "5.15.0-91-generic": false, "6": false, "x.y": false, "unknown": false,
	} {
		if err := OldKernel(release); (err == nil) != ok {
			t.Errorf("kernel %q: %v", release, err)
		} else if err != nil && (fault.KindOf(err) != fault.Machine || fault.HintOf(err) == "") {
			t.Errorf("kernel %q: kind %d, hint %q", release, fault.KindOf(err), fault.HintOf(err))
		}
	}
}

func host(t *testing.T, env map[string]string) Host {
	return Host{UID: 1000, Kernel: "6.12.0", Home: t.TempDir(), Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
}

func TestEveryFindingHasAFix(t *testing.T) {
	env := map[string]string{"HTTPS_PROXY": "http://user:secret@proxy.example:1", "DISPLAY": ":0"}
	t.Setenv("PATH", t.TempDir()) // no program is installed
	h := host(t, env)
	h.UID, h.Kernel = 0, "5.4.0"
	results := Check(t.Context(), h)
	seen := map[string]Status{}
	for _, r := range results {
		if _, twice := seen[r.Name]; twice {
			t.Errorf("two checks are named %s", r.Name)
		}
		seen[r.Name] = r.Status
		if (r.Fix == "") != (r.Status == OK) || r.Text == "" {
			t.Errorf("%+v", r)
		}
		if strings.Contains(r.Text+r.Fix, "secret") {
			t.Errorf("%s tells the proxy's password: %s", r.Name, r.Text)
		}
	}
	for name, want := range map[string]Status{"user": Failure, "image": Failure, "git": Warning, "clipboard": Warning, "proxy": Warning, "home": OK} {
		if seen[name] != want {
			t.Errorf("%s: %q, want %q", name, seen[name], want)
		}
	}
	if Failures(results) == 0 {
		t.Error("no failure was counted")
	}
}

func TestSpace(t *testing.T) {
	for free, want := range map[uint64]Status{0: Failure, noSpace - 1: Failure, noSpace: Warning, littleSpace - 1: Warning, littleSpace: OK} {
		if r, _ := spaceResult(free, "/home/u/.aibox"); r.Status != want {
			t.Errorf("%d bytes: %s, want %s", free, r.Status, want)
		}
	}
}

func TestHomeThatCannotBeUsed(t *testing.T) {
	h := host(t, nil)
	h.Home = "relative"
	if r, _ := home(t.Context(), h); r.Status != Failure {
		t.Errorf("%+v", r)
	}
	if _, applies := diskSpace(t.Context(), h); applies {
		t.Error("the same failure is told twice")
	}
}

func TestOutput(t *testing.T) {
	results := []Result{{"kvm", Warning, "is missing", "load <it>"}, {"git", OK, "2.1", ""}}
	var table, text bytes.Buffer
	Write(&table, results)
	if want := "warning  kvm           is missing\n                       fix: load <it>\nok       git           2.1\n"; table.String() != want {
		t.Errorf("%q, want %q", table.String(), want)
	}
	if err := WriteJSON(&text, results); err != nil {
		t.Fatal(err)
	}
	var got struct {
		OK     bool
		Checks []Result
	}
	if err := json.Unmarshal(text.Bytes(), &got); err != nil || !got.OK || len(got.Checks) != 2 || got.Checks[0] != results[0] {
		t.Errorf("%s: %v", text.String(), err)
	}
}
