package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Order is what the harness asks of an attacker that serves in the VM: a shell
// command line, or bytes to send to a port of the VM's loopback.
type Order struct {
	Shell   string
	Root    bool
	Port    int
	Send    []byte
	Silence time.Duration
}

// Answer is what came of it.
type Answer struct {
	Out  []byte
	Code int
}

// maxAnswer bounds what one order may print.
const maxAnswer = 256 << 10

// serve takes orders, one JSON a line, as root. uid is the session's user.
func serve(uid int) error {
	orders := json.NewDecoder(bufio.NewReader(os.Stdin))
	answers := json.NewEncoder(os.Stdout)
	for {
		var o Order
		if err := orders.Decode(&o); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		answer := o.obey(uid)
		if len(answer.Out) > maxAnswer {
			answer.Out = answer.Out[:maxAnswer]
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}

func (o Order) obey(uid int) Answer {
	if o.Shell == "" {
		out, err := exchange(o.Port, o.Send, o.Silence)
		if err != nil {
			return Answer{[]byte(err.Error()), 1}
		}
		return Answer{out, 0}
	}
	cmd := exec.Command("/bin/bash", "-c", o.Shell)
	cmd.Dir = "/project"
	if !o.Root {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return Answer{out, exit.ExitCode()}
	case err != nil:
		return Answer{fmt.Appendf(out, "\n%v", err), 128}
	}
	return Answer{out, 0}
}

// exchange sends bytes to a port and returns what comes back until the end or
// a time of silence.
func exchange(port int, send []byte, silence time.Duration) ([]byte, error) {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	go func() { _, _ = io.Copy(c, bytes.NewReader(send)) }()
	var got []byte
	b := make([]byte, 32<<10)
	for len(got) < maxAnswer {
		_ = c.SetReadDeadline(time.Now().Add(silence))
		n, err := c.Read(b)
		got = append(got, b[:n]...)
		if err != nil {
			break
		}
	}
	return got, nil
}
