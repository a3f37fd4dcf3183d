//go:build vm

package vm

import (
	"strings"
	"testing"
)

// Each key of the config that the VM can show.
func TestConfigReachesTheVM(t *testing.T) {
	b := newBox(t)
	b.env = append(b.env, "PASSED_ON=from the host", "TOOL_PATH=/opt/a:relative:/opt/b")
	b.config(strings.Join([]string{
		"memory: 1024", "cpus: 1", "disk: 2", "path: [/opt/tools/bin, TOOL_PATH]", "env: [PASSED_ON, 'WRITTEN=a = \"b\" $c', MISSING]", "allow: ['127.0.0.1:5999']", "",
	}, "\n"))
	s := b.shell()
	for command, want := range map[string]string{
		"nproc": "1", "echo $PASSED_ON": "from the host", `printf %s "$WRITTEN"`: `a = "b" $c`,
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
