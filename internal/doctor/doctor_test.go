package doctor

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/fault"
	"aibox/internal/image"
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

func TestClipboard(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"wl-paste", "xclip"} {
		if err := os.WriteFile(filepath.Join(bin, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		env    map[string]string
		status Status
		text   string
	}{
		{nil, OK, "no graphical session"},
		{map[string]string{"DISPLAY": ":0", "PATH": bin}, OK, filepath.Join(bin, "xclip")},
		{map[string]string{"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0", "PATH": bin}, OK, filepath.Join(bin, "wl-paste") + ", " + filepath.Join(bin, "xclip")},
		{map[string]string{"WAYLAND_DISPLAY": "wayland-0", "PATH": "/nowhere"}, Warning, "wl-paste is not installed"},
		{map[string]string{"DISPLAY": ":0", "PATH": "/nowhere"}, Warning, "xclip is not installed"},
		{map[string]string{"DISPLAY": "localhost:10.0", "PATH": bin}, OK, "on another machine"},
	} {
		if r, _ := clipboard(t.Context(), host(t, c.env)); r.Status != c.status || !strings.Contains(r.Text, c.text) || (r.Fix == "") != (r.Status == OK) {
			t.Errorf("%v: %+v", c.env, r)
		}
	}
}

func TestProxyVariables(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		if r, _ := proxy(t.Context(), host(t, map[string]string{name: "http://proxy.example:3128"})); r.Status != Warning || !strings.Contains(r.Text, name) || r.Fix == "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r, _ := proxy(t.Context(), host(t, map[string]string{"NO_PROXY": "*", "HTTPS_PROXY": ""})); r.Status != OK {
		t.Errorf("without a proxy: %+v", r)
	}
}

// A run opens the image the same way, and gives the same reason.
func TestImage(t *testing.T) {
	h := host(t, nil)
	dir := filepath.Join(h.Home, ".aibox", "image", "1.0")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.Build = image.Build{Version: "1.0", Digests: image.Digests{Kernel: strings.Repeat("0", 64), RootDisk: strings.Repeat("0", 64)}}
	for _, kernel := range []string{"", "too short", strings.Repeat("no kernel", 1000)} {
		if err := os.WriteFile(filepath.Join(dir, image.KernelName), []byte(kernel), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := image.Open(dir, h.Build.Digests)
		if r, _ := theImage(t.Context(), h); err == nil || r.Status != Failure || r.Text != err.Error() || r.Fix == "" || r.Fix != fault.HintOf(err) {
			t.Errorf("kernel %.10q: %+v, while a run says: %v", kernel, r, err)
		}
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
