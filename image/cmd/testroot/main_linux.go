package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// failed is the exit code when the program could not be started, as a shell's.
const failed = 127

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "testroot:", err)
		os.Exit(failed)
	}
}

// run becomes root and turns into the program; it returns only on failure.
func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: root PROGRAM [ARGUMENT…]")
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("drop groups: %w", err)
	}
	if err := syscall.Setresgid(0, 0, 0); err != nil {
		return fmt.Errorf("become the group 0: %w", err)
	}
	if err := syscall.Setresuid(0, 0, 0); err != nil {
		return fmt.Errorf("become the user 0: %w", err)
	}
	return syscall.Exec(path, args, os.Environ())
}
