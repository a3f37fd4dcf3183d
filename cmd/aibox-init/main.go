// Command aibox-init is process 1 of aibox's VM. Under the name of a clipboard
// program it is that program.
package main

import (
	"fmt"
	"os"

	"aibox/internal/guest/boot"
	"aibox/internal/guest/clip"
)

func main() {
	if os.Getpid() != 1 && clip.Is(os.Args[0]) {
		os.Exit(clip.Main(os.Args, os.Stdout, os.Stderr))
	}
	if err := boot.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "aibox-init:", err)
		os.Exit(1)
	}
}
