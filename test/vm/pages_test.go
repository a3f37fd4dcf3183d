//go:build vm

package vm

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"aibox/internal/cli"
	"aibox/test/pages"
)

// The documents' commands, as a new user types them, with real VMs. The Claude
// API is scripted, and the user's key stands for the login, which needs a browser.
func TestConfigDocsAreFollowed(t *testing.T) {
	all, err := pages.Read(".")
	if err != nil {
		t.Fatal(err)
	}
	for page, commands := range all {
		if pages.NeedVM(commands) {
			t.Run(page, func(t *testing.T) { follow(t, page, commands) })
		}
	}
}

func follow(t *testing.T, page string, commands []pages.Command) {
	b := newBox(t)
	dir := pages.Project(t, b.home)
	bin := filepath.Join(b.home, ".local", "bin")
	api := &scriptedAPI{commands: []string{"echo scripted > new.txt"}, last: "This reply is scripted.", key: taskKey}
	upstream := filepath.Join(b.home, ".upstream")
	b.write(upstream, serveScript(t, api))
	b.write(filepath.Join(bin, "aibox"), fmt.Sprintf("#!/bin/sh\nexec %s %s \"$@\" 3<%s\n", quote(readEnvironment().aibox), cli.UpstreamCommand, quote(upstream)))
	b.must(os.Chmod(filepath.Join(bin, "aibox"), 0o700))
	b.must(os.MkdirAll(filepath.Join(b.home, ".aibox", "image"), 0o700))
	b.must(os.Symlink(readEnvironment().image, filepath.Join(b.home, ".aibox", "image", "dev")))
	b.setenv("PATH", bin+":"+os.Getenv("PATH"))
	b.setenv("ANTHROPIC_API_KEY", taskKey)
	b.config("env: [ANTHROPIC_API_KEY]\n")
	if page == "README.md" || page == "running.md" { // which enter the folder
		dir = b.home
	}
	pages.Follow(t, commands, pages.Reader{Place: pages.VM, Home: b.home, Dir: dir, Env: b.env, Limit: taskDeadline})
}
