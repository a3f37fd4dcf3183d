package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// Result is one attack's outcome, a line of JSON.
type Result struct {
	Name string
	Open bool   // it worked
	Text string // what worked, or why not
}

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 0:
		err = fmt.Errorf("usage: attacker vm ATTACK | bare TARGET | the arguments of QEMU or virtiofsd")
	case args[0] == "vm":
		err = inVM(args[1:])
	case args[0] == "bare":
		err = bare(args[1])
	case strings.HasPrefix(args[0], "--fd="):
		err = asVirtiofsd()
	default:
		err = asQEMU(args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "attacker:", err)
		os.Exit(1)
	}
}

// Target is what the sandboxed attacker goes for: all of it belongs to the test.
type Target struct {
	Secret   string // a file of the user with Marker in it
	Marker   string
	Scratch  string // a folder of the user
	Port     int    // of a TCP and a UDP server on the loopback, which answer Marker
	Unix     string // path of a socket whose server answers Marker
	Abstract string // the same by a name
	PID      int    // a process of the user
	Key      string // name of a key in the session's keyring
	Shm      int    // a shared memory segment of System V
	Do       string // what the stand-in does beside the attacks
	Bare     bool   // there is no sandbox: keep to what is the test's own
	Role     string
	Writable []string // folders that the sandbox shows writable on purpose
	ReadOnly []string
	FDs      map[string]int
}

func decode(text string) (t Target, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(b, &t)
}

// bare attacks without a sandbox.
func bare(text string) error {
	t, err := decode(text)
	if err != nil {
		return err
	}
	t.Bare = true
	return report(os.Stdout, attack(t))
}

func report(w io.Writer, results []Result) error {
	for _, r := range results {
		b, _ := json.Marshal(r) // cannot fail
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "{\"Name\":\"done\"}\n")
	return err
}
