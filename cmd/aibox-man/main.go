// Command aibox-man writes aibox's manual pages into a folder: aibox-man docs/man.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"aibox/internal/cli"
	"aibox/internal/cli/man"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: aibox-man FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "aibox-man:", err)
		os.Exit(1)
	}
}

// write replaces all pages of the folder.
func write(dir string) error {
	old, err := filepath.Glob(filepath.Join(dir, "aibox*.1"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, p := range man.Pages(cli.Commands()) {
		if err := os.WriteFile(filepath.Join(dir, p.Name), []byte(p.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
