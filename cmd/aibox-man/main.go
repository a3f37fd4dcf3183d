// Command aibox-man writes aibox's manual pages into a folder: aibox-man docs/man.
package main

import (
	"fmt"
	"os"

	"aibox/internal/cli"
	"aibox/internal/cli/man"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: aibox-man FOLDER")
		os.Exit(2)
	}
	if err := man.Write(os.Args[1], cli.Commands()); err != nil {
		fmt.Fprintln(os.Stderr, "aibox-man:", err)
		os.Exit(1)
	}
}
