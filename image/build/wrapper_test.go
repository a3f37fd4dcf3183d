package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aibox/image/rootdisk"
)

// TestClaudeWrapper runs the guest's claude with a program in Claude Code's
// place that prints its arguments.
func TestClaudeWrapper(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the guest's script needs /bin/sh, this is windows")
	}
	text, err := os.ReadFile(filepath.Join(checkout, "image", overlayDir, "usr/bin/claude"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, wrapper := filepath.Join(dir, "program"), filepath.Join(dir, "claude")
	moved := strings.ReplaceAll(string(text), "/"+rootdisk.Claude, program)
	for path, script := range map[string]string{program: "#!/bin/sh\nfor a; do printf '[%s]' \"$a\"; done\n", wrapper: moved} {
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const flag = "[--append-system-prompt-file][/" + rootdisk.RunPrompt + "]"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, flag},
		{[]string{"--resume", "a b"}, flag + "[--resume][a b]"},
		{[]string{"--print", "mcp"}, flag + "[--print][mcp]"},
		{[]string{"fix the tests"}, flag + "[fix the tests]"},
		{[]string{"mcp", "add", "x"}, "[mcp][add][x]"},
		{[]string{"--version"}, "[--version]"},
	} {
		out, err := exec.Command(wrapper, c.args...).CombinedOutput()
		if err != nil || string(out) != c.want {
			t.Errorf("claude %q runs Claude Code with %s, %v; want %s", c.args, out, err, c.want)
		}
	}
}
