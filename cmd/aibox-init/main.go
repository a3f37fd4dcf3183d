// Command aibox-init is process 1 of aibox's VM.
package main

import (
	"fmt"
	"os"

	"aibox/internal/guest/boot"
)

func main() {
	if err := boot.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "aibox-init:", err)
		os.Exit(1)
	}
}
