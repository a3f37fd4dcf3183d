//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"aibox/internal/project"
)

// pane is a user's shell in tmux, 100 columns by 40 rows, in a project. The aibox
// in its PATH is that of the scripts.
type pane struct {
	t          *testing.T
	socket     string
	home, kept string
	project    string
	modes      string // of the terminal, before anything ran
}

func newPane(t *testing.T, files ...string) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("found no tmux in PATH; scripts/setup.sh --tests installs it")
	}
	home := t.TempDir()
	p := &pane{t: t, home: home, project: filepath.Join(home, "src", "app"), socket: filepath.Join(home, "tmux")}
	p.kept = filepath.Join(home, ".aibox", "projects", project.Name(p.project))
	for _, name := range append(files, ".keep") {
		p.write(filepath.Join(p.project, name), "module x\n")
	}
	p.write(filepath.Join(home, "shell"), `exec bash --norc --noprofile -i`)
	p.tmux("-f", os.DevNull, "new-session", "-d", "-x", "100", "-y", "40", "-c", p.project, "sh", filepath.Join(home, "shell"))
	t.Cleanup(func() { p.tmux("kill-server") })
	p.sees(`^\[0\]\$ *$`)
	p.modes = p.terminal()
	return p
}

func (p *pane) write(path, text string) {
	p.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...)
	cmd.Env = []string{
		"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "PS1=[$?]$ ", "HISTFILE=",
		"GORACE=atexit_sleep_ms=0", "ANTHROPIC_API_KEY=sk-ant-of-the-test",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// keys presses keys by tmux's names, such as Enter and C-c.
func (p *pane) keys(keys ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys"}, keys...)...)
}

// types types a command on an empty screen.
func (p *pane) types(line string) {
	p.t.Helper()
	p.keys("C-l")
	p.sees(`\A\[\d+\]\$ *\n*\z`)
	p.tmux("send-keys", "-l", line)
	p.keys("Enter")
}

func (p *pane) screen() string { return p.tmux("capture-pane", "-p", "-J") }

// sees waits until the screen matches.
func (p *pane) sees(pattern string) {
	p.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	deadline := time.After(time.Minute)
	for {
		screen := p.screen()
		if re.MatchString(screen) {
			return
		}
		select {
		case <-deadline:
			p.t.Fatalf("the screen has no %s:\n%s", pattern, screen)
		case <-time.After(20 * time.Millisecond): // looks again: a screen announces nothing
		}
	}
}

// ends waits for the shell's prompt with the exit code, and wants the terminal to
// be as it was.
func (p *pane) ends(code int) {
	p.t.Helper()
	p.sees(fmt.Sprintf(`^\[%d\]\$ *\n*\z`, code))
	if modes := p.terminal(); modes != p.modes {
		p.t.Errorf("the terminal's modes are %s, want %s as before", modes, p.modes)
	}
}

// terminal is the modes of the terminal as programs see them, cursor included.
func (p *pane) terminal() string {
	p.t.Helper()
	p.keys("C-l")
	file := filepath.Join(p.home, "modes")
	p.tmux("send-keys", "-l", "stty -g > "+file+"; tput sgr0; echo me''asured")
	p.keys("Enter")
	p.sees("^measured$")
	text, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(string(text)) + " cursor " + strings.TrimSpace(p.tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{mouse_any_flag}"))
}

// config is the project's config, empty where there is none.
func (p *pane) config() string {
	text, err := os.ReadFile(filepath.Join(p.kept, "config.yaml"))
	if err != nil && !os.IsNotExist(err) {
		p.t.Error(err)
	}
	return string(text)
}

func TestTmuxSuggest(t *testing.T) {
	p := newPane(t, "go.mod", "package.json")
	p.types("aibox config suggest")
	p.sees(`^Go modules, because of go\.mod:\n  preset:go opens\n    \*\.golang\.org +module proxy.*\n    \*\.go\.dev .*\nAdd it\? \[Y/n\] *\n*\z`)
	p.keys("C-c")
	p.sees("^aibox: interrupted$")
	p.ends(130)
	if got := p.config(); got != "" {
		t.Errorf("after Ctrl+C there is a config:\n%s", got)
	}
	p.types("aibox config suggest")
	p.sees(`Add it\? \[Y/n\] *\n*\z`)
	p.keys("w", "h", "a", "t", "Enter") // no answer: it asks again
	p.sees(`Add it\? \[Y/n\] what\nAdd it\? \[Y/n\] *\n*\z`)
	p.keys("n", "Enter")
	p.sees(`^Node\.js packages, because of package\.json:(.|\n)*Add it\? \[Y/n\] *\n*\z`)
	p.keys("Enter")
	p.sees(`^aibox: now allowed: preset:npm$`)
	p.ends(0)
	if got := p.config(); !strings.Contains(got, "\n  - preset:npm\n") || strings.Contains(got, "\n  - preset:go\n") {
		t.Errorf("the config is\n%s", got)
	}
	p.types("aibox config suggest")
	p.sees(`because of go\.mod`)
	p.keys("C-d") // the end of the input is no answer
	p.sees("^aibox: no answer was given$")
	p.ends(1)
}

func TestTmuxEditOffersToOpenAgain(t *testing.T) {
	p := newPane(t)
	p.write(filepath.Join(p.home, "mistake"), `echo "memory: much" > "$1"`)
	p.types(`EDITOR="sh $HOME/mistake" aibox config edit`)
	p.sees(`^aibox: .*memory must be a whole number`)
	p.sees(`^hint: write memory: 2048\nOpen it again\? \[Y/n\] *\n*\z`)
	p.keys("C-c")
	p.ends(130)
	if got := p.config(); got != "memory: much\n" { // what the user saved
		t.Errorf("after Ctrl+C the config is %q", got)
	}
	p.types(`EDITOR="sh $HOME/mistake" aibox config edit`)
	p.sees(`Open it again\? \[Y/n\] *\n*\z`)
	p.write(filepath.Join(p.home, "mistake"), `echo "memory: 512" > "$1"`)
	p.keys("Enter")
	p.ends(0)
	if got := p.config(); got != "memory: 512\n" {
		t.Errorf("the config is %q", got)
	}
	// A real editor on the whole screen, and Ctrl+C in it, which is the editor's.
	if _, err := exec.LookPath("vi"); err == nil {
		p.types("EDITOR='vi -u NONE' aibox config edit")
		p.sees(`^memory: 512\n~|Press ENTER`)
		p.keys("Enter") // for a path that is too long for vi's last line
		p.sees(`^memory: 512\n~`)
		p.keys("C-c")
		p.sees("^Type +:qa")
		p.keys("o")
		p.tmux("send-keys", "-l", "cpus: 3")
		p.keys("Escape", ":", "w", "q", "Enter")
		p.ends(0)
		if got := p.config(); got != "memory: 512\ncpus: 3\n" {
			t.Errorf("the config is %q", got)
		}
	}
}

func TestTmuxFirstRunOffersOnce(t *testing.T) {
	p := newPane(t, "Cargo.toml")
	p.types("aibox run")
	p.sees(`^aibox: this project has no config yet; these are the hosts that its files speak of\nRust crates, because of Cargo\.toml:(.|\n)*Add it\? \[Y/n\] *\n*\z`)
	p.keys("C-c")
	p.sees("^aibox: interrupted$")
	p.ends(130)
	if strings.Contains(p.screen(), "shell=false") || p.config() != "" {
		t.Errorf("after Ctrl+C it ran, or left a config:\n%s\n%s", p.screen(), p.config())
	}
	p.types("aibox run")
	p.sees(`Add it\? \[Y/n\] *\n*\z`)
	p.keys("n", "Enter")
	p.sees("^shell=false")
	p.ends(0)
	if got := p.config(); got == "" || strings.Contains(got, "\n  - preset:cargo\n") {
		t.Errorf("after a no the config is\n%s", got)
	}
	p.types("aibox run")
	p.sees("^shell=false")
	p.ends(0)
}

func TestTmuxRemoveAsks(t *testing.T) {
	p := newPane(t)
	p.types("aibox config allow example.com")
	p.ends(0)
	config := p.config()
	for _, no := range []struct {
		keys []string
		code int
	}{{[]string{"C-c"}, 130}, {[]string{"Enter"}, 0}, {[]string{"n", "Enter"}, 0}, {[]string{"C-d"}, 1}} {
		p.types("aibox projects remove")
		p.sees(`^Drop config, login, home, disk and logs that aibox keeps for "\S*/src/app"\? \[y/N\] *\n*\z|^Drop config(.|\n)*\[y/N\] *\n*\z`)
		p.keys(no.keys...)
		p.ends(no.code)
		if p.config() != config {
			t.Fatalf("%v changed something", no.keys)
		}
	}
	p.types("aibox projects reset")
	p.sees(`^Clear the home and the disk(.|\n)*\[y/N\] *\n*\z`)
	p.keys("C-c")
	p.ends(130)
	p.types("aibox projects remove")
	p.sees(`\[y/N\] *\n*\z`)
	p.keys("y", "Enter")
	p.sees("^aibox: nothing is kept for ")
	p.ends(0)
	if _, err := os.Stat(p.kept); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

// The first task of a project shows what it may reach before anything starts.
func TestTmuxTaskPlan(t *testing.T) {
	p := newPane(t)
	p.write(filepath.Join(p.home, ".gitconfig"), "[user]\n\tname = T\n\temail = t@example.com\n")
	p.types("git init -q && git add . && git commit -q -m start && EDITOR='echo env: [ANTHROPIC_API_KEY] >>' aibox config edit")
	p.ends(0)
	p.types("aibox task 'do it'") // its VM, a fake, brings nothing back
	p.sees(`aibox\[[0-9a-z-]+\] this task may reach:$`)
	p.sees(`  hosts: .*the Claude API`)
	p.sees(`  and the start commit with all of its history$`)
	p.ends(1)
	p.types("aibox task 'do it'")
	p.ends(1)
	if strings.Contains(p.screen(), "may reach") {
		t.Error("the second task shows it again")
	}
	p.types("aibox task --plan 'do it'")
	p.sees("this task may reach:")
	p.ends(1)
	p.types("aibox tasks clean")
	p.sees(`^Remove 3 tasks with their results\? \[y/N\] *\n*\z`)
	p.keys("C-c")
	p.ends(130)
	if left, _ := filepath.Glob(filepath.Join(p.kept, "tasks", "*")); len(left) != 3 {
		t.Errorf("after Ctrl+C %d tasks are left", len(left))
	}
}
