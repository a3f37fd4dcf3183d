//go:build vm

package vm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each key of the config that the VM can show.
func TestConfigReachesTheVM(t *testing.T) {
	b := newBox(t)
	b.env = append(b.env, "PASSED_ON=from the host", "TOOL_PATH=/opt/a:relative:/opt/b")
	b.config(strings.Join([]string{
		"memory: 1024", "cpus: 1", "disk: 2", "path: [/opt/tools/bin, TOOL_PATH]", "env: [PASSED_ON, 'WRITTEN=a = \"b\" $c', 'NAMES=Zoë 日本 \U0001F600', MISSING]", "allow: ['127.0.0.1:5999']", "",
	}, "\n"))
	s := b.shell()
	for command, want := range map[string]string{
		"nproc": "1", "echo $PASSED_ON": "from the host", `printf %s "$WRITTEN"`: `a = "b" $c`, "echo $NAMES": "Zoë 日本 \U0001F600",
		"echo ${MISSING-unset}": "unset", `echo "$PATH" | cut -d: -f1-3`: "/opt/tools/bin:/opt/a:/opt/b",
		"echo $(( $(awk '/MemTotal/ {print $2}' /proc/meminfo) / 1024 > 800 && $(awk '/MemTotal/ {print $2}' /proc/meminfo) / 1024 <= 1024 ))": "1",
		"echo $(( $(df --output=size -m /usr/local | tail -1) > 1800 && $(df --output=size -m /usr/local | tail -1) <= 2048 ))":                "1",
		"cat /proc/net/tcp | grep -c :176F": "1", // 5999
	} {
		if got, _ := s.do(command); strings.TrimRight(got, "\n") != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	s.must("exit 0")
	if _, code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(s.stderr.String(), "MISSING, which is not set here") {
		t.Errorf("stderr: %s", s.stderr)
	}
}

func TestConfigResetClearsTheHomeAndKeepsTheLogin(t *testing.T) {
	b := newBox(t)
	b.mustRun(`mkdir -p ~/.claude && echo login > ~/.claude/.credentials.json && echo x > ~/file && mkdir -p ~/ro/sub && chmod 500 ~/ro && ln -s / ~/root
		echo tool > /usr/local/bin/tool`)
	if out, err := b.aibox("projects", "reset", "--yes"); err != nil {
		t.Fatalf("reset: %v\n%s", err, out)
	}
	got := b.mustRun("cat ~/.claude/.credentials.json; ls ~/file ~/ro ~/root /usr/local/bin/tool 2>&1 | grep -c 'No such file'")
	if got != "login\n4\n" {
		t.Errorf("after the reset: %q", got)
	}
	out, err := b.aibox("projects", "list")
	if err != nil || !strings.Contains(out, b.project) {
		t.Errorf("projects list: %v\n%s", err, out)
	}
	if out, err := b.aibox("projects", "remove", "--yes"); err != nil {
		t.Fatalf("remove: %v\n%s", err, out)
	}
	if out, _ := b.aibox("projects", "list"); strings.Contains(out, b.project) {
		t.Errorf("still listed: %s", out)
	}
}

// What the doctor says of a machine and why a run fails there are the same.
func TestConfigDoctorAgreesWithARun(t *testing.T) {
	b := newBox(t)
	if out, err := b.aibox("doctor", "--image", b.image); err != nil {
		t.Fatalf("doctor on a machine that works: %v\n%s", err, out)
	}
	for name, lacking := range map[string]func(*testing.T, *box){
		"bubblewrap": func(t *testing.T, b *box) { b.only("git", "qemu-system-x86_64") },
		"QEMU":       func(t *testing.T, b *box) { b.only("git", "bwrap") },
		"a QEMU that works": func(t *testing.T, b *box) {
			b.write(filepath.Join(b.only("git", "bwrap"), "qemu-system-x86_64"), "#!/bin/sh\nexit 1\n")
			b.must(os.Chmod(filepath.Join(b.home, "bin", "qemu-system-x86_64"), 0o700))
		},
		"an image": func(t *testing.T, b *box) { b.image = "" },
		"a whole kernel": func(t *testing.T, b *box) {
			b.image = filepath.Join(b.home, "image")
			b.write(filepath.Join(b.image, "vmlinuz"), "too short")
		},
		"a place for its files": func(t *testing.T, b *box) { b.write(filepath.Join(b.home, ".aibox"), "a file") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			lacking(t, b)
			args := []string{"doctor"}
			if b.image != "" {
				args = append(args, "--image", b.image)
			}
			told, err := b.aibox(args...)
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 4 {
				t.Errorf("doctor: %v\n%s", err, told)
			}
			s := b.start("true")
			want := 4
			if name == "a place for its files" {
				want = 5 // a run refuses what an enemy may have put there
			}
			if _, code := s.wait(); code != want {
				t.Errorf("a run ended with %d, want %d", code, want)
			}
			m := regexp.MustCompile(`aibox: (.*)\nhint: (.*)\n$`).FindStringSubmatch(s.stderr.String())
			if m == nil || !strings.Contains(told, m[1]) || !strings.Contains(told, m[2]) {
				t.Errorf("the run says\n%s\nand the doctor\n%s", s.stderr, told)
			}
		})
	}
}

// only leaves the user these programs alone, in the folder that it returns.
func (b *box) only(names ...string) string {
	b.t.Helper()
	dir := filepath.Join(b.home, "bin")
	b.must(os.Mkdir(dir, 0o700))
	for _, name := range names {
		path, err := exec.LookPath(name)
		b.must(err)
		b.must(os.Symlink(path, filepath.Join(dir, name)))
	}
	b.setenv("PATH", dir)
	return dir
}

// A user's first hour: the first run offers presets, the VM asks for a host
// that is refused, suggest offers that host, and the next run reaches for it.
func TestConfigIsSuggestedOnATerminal(t *testing.T) {
	b := newBox(t)
	if err := os.WriteFile(filepath.Join(b.project, "go.mod"), []byte("module x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := b.terminal("--shell")
	c.await(`preset:go opens(.|\n)*\*\.golang\.org(.|\n)*Add it\? \[Y/n\] $`)
	c.send("\r")
	c.await(`now allowed: preset:go`)
	c.await(`\$ $`)
	c.send("curl -sS http://refused.example/ ; exit 7\r")
	if code := c.wait(); code != 7 {
		t.Errorf("exit code %d", code)
	}
	c.await(`aibox: .*refused\.example`)

	c = b.onTerminal(exec.Command(readEnvironment().aibox, "config", "suggest"))
	c.await(`refused\.example:80 was refused in the last run; something in the VM asked for it\.\s+Add it\? \[y/N\] $`)
	c.send("y\r")
	c.await(`now allowed: refused\.example:80`)
	if code := c.wait(); code != 0 {
		t.Errorf("suggest: exit code %d", code)
	}
	s := b.start("curl -sS http://refused.example/")
	out, _ := s.wait()
	if strings.Contains(out+s.stderr.String(), "allow") {
		t.Errorf("it is refused again: %s%s", out, s.stderr)
	}
}
