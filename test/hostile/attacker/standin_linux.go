package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// asQEMU runs in QEMU's place. Its target is a word of the kernel's arguments,
// and it reports by the console.
func asQEMU(args []string) error {
	line := strings.Join(args, " ")
	t := Target{}
	if _, rest, ok := strings.Cut(line, "hostile="); ok {
		var err error
		if t, err = decode(strings.Fields(rest)[0]); err != nil {
			return err
		}
	}
	t.Role, t.FDs = "qemu", map[string]int{}
	for name, before := range map[string]string{
		"kernel": "-kernel /proc/self/fd/", "root": "-blockdev driver=file,node-name=root-file,filename=", "link": "id=link,fd=", "console": "id=console,fd=",
	} {
		t.FDs[name] = number(line, before)
	}
	if t.FDs["root"] < 0 {
		t.FDs["root"] = number(line, "-add-fd fd=")
	}
	console := os.NewFile(uintptr(t.FDs["console"]), "console")
	switch t.Do {
	case "flood the console":
		return floodConsole(console)
	case "die with escape codes":
		fmt.Fprint(console, "aibox-init: \x1b]0;owned\x07\x1b[31mstep: reason\r\n")
		fmt.Fprint(os.Stderr, "\x1b[2J\x1b]52;c;b3duZWQ=\x07last words\n")
		os.Exit(1)
	case "flood stderr":
		chunk := bytes.Repeat([]byte("\x1b[31mflood "), 1000)
		for range 20000 {
			if _, err := os.Stderr.Write(chunk); err != nil {
				return err
			}
		}
		os.Exit(1)
	case "leave a daemon":
		return leaveDaemons(console)
	}
	if err := report(console, attack(t)); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, os.NewFile(uintptr(t.FDs["link"]), "link")) // until aibox ends it
	return err
}

// number returns the decimal number behind the first occurrence of before, -1 for none.
func number(line, before string) int {
	_, rest, ok := strings.Cut(line, before)
	if !ok {
		return -1
	}
	end := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		end = len(rest)
	}
	n, err := strconv.Atoi(rest[:end])
	if err != nil {
		return -1
	}
	return n
}

// floodConsole prints a gigabyte.
func floodConsole(console *os.File) error {
	chunk := bytes.Repeat([]byte("\x1b[2J\x1b]0;owned\x07flood\r\n"), 50000)
	for sent := 0; sent < 1<<30; sent += len(chunk) {
		if _, err := console.Write(chunk); err != nil {
			return err
		}
	}
	_, err := io.WriteString(console, "\n{\"Name\":\"done\"}\n")
	return err
}

// leaveDaemons starts copies that leave their group and session and ignore all
// signals they can, and ends without them.
func leaveDaemons(console *os.File) error {
	for range 5 {
		cmd := exec.Command("/proc/self/exe", "vm", "daemon")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return err
		}
	}
	_, err := io.WriteString(console, "{\"Name\":\"done\"}\n")
	time.Sleep(time.Minute) // the harness kills this process long before
	return err
}

// asVirtiofsd runs in virtiofsd's place. Its target is a file of the project,
// and it reports by another.
func asVirtiofsd() error {
	const project = "/shares/project"
	b, err := os.ReadFile(filepath.Join(project, "target.json"))
	if err != nil {
		return err
	}
	var t Target
	if err := json.Unmarshal(b, &t); err != nil {
		return err
	}
	t.Role = "virtiofsd"
	f, err := os.Create(filepath.Join(project, "results.part"))
	if err != nil {
		return err
	}
	if err := report(f, attack(t)); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(project, "results.json")); err != nil {
		return err
	}
	time.Sleep(time.Hour) // aibox ends it long before
	return nil
}
