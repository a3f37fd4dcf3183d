package pasteboard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"aibox/internal/jail"
	"aibox/internal/plain"
)

const selfPath = "/proc/self/exe"

// Main is the helper: it reads its programs from standard input, confines itself
// to them, and answers one question after the other until the input ends.
func Main() int {
	// The parent-death signal of what is started follows this thread.
	runtime.LockOSThread()
	in := bufio.NewReaderSize(os.Stdin, maxSetup)
	programs, err := begin(in)
	if err != nil {
		fmt.Fprintf(os.Stdout, "no %s\n", plain.Line(err.Error()))
		return 1
	}
	fmt.Fprintln(os.Stdout, "ok 0")
	s := server{programs: programs}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0
		}
		answer, err := s.answer(strings.TrimSuffix(line, "\n"))
		if err != nil {
			fmt.Fprintf(os.Stdout, "no %s\n", plain.Line(err.Error()))
			continue
		}
		fmt.Fprintf(os.Stdout, "ok %d\n", len(answer))
		if _, err := os.Stdout.Write(answer); err != nil {
			return 1
		}
	}
}

func begin(in *bufio.Reader) ([]Program, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("read the programs: %w", err)
	}
	var s setup
	if err := json.Unmarshal(line, &s); err != nil {
		return nil, fmt.Errorf("read the programs: %w", err)
	}
	_, err = jail.Apply(policy(s))
	return s.Programs, err
}

func policy(s setup) jail.Policy {
	p := jail.Policy{
		ReadFiles:  []string{"/etc/ld.so.cache"},
		WriteFiles: []string{os.DevNull},
		Exec:       []string{"/usr", "/bin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"},
		Desktop:    true, Alone: true, Lax: s.Lax,
	}
	for _, program := range s.Programs {
		p.ReadFiles = append(p.ReadFiles, program.Files...)
		p.Exec = append(p.Exec, program.Path)
		if program.Scratch {
			p.WriteDirs = []string{"/tmp"}
		}
	}
	return p
}

// server is the helper's work.
type server struct {
	programs []Program
	used     int // the program that listed the types last
}

func (s *server) answer(question string) ([]byte, error) {
	if question == "types" {
		err := errors.New("no program")
		for i, p := range s.programs {
			var out []byte
			if out, err = run(p, p.List, listTime, maxTypes); err == nil {
				s.used = i
				return p.types(out), nil
			}
		}
		return nil, err
	}
	kind, ok := strings.CutPrefix(question, "image ")
	if !ok {
		return nil, errors.New("no question")
	}
	p := s.programs[s.used]
	args, err := p.ask(kind)
	if err != nil {
		return nil, err
	}
	out, err := run(p, args, imageTime, p.most(MaxImage))
	if err != nil {
		return nil, err
	}
	return p.contents(out)
}

// run returns what a program prints. It is killed, with what it started, when it
// takes longer than limit or prints more than size.
func run(p Program, args []string, limit time.Duration, size int) ([]byte, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	child, err := os.StartProcess(p.Path, append([]string{p.Path}, args...), &os.ProcAttr{
		Dir: "/", Env: p.Env, Files: []*os.File{null, childOut, null},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	childOut.Close()
	if err != nil {
		return nil, err
	}
	_ = out.SetReadDeadline(time.Now().Add(limit))
	var text bytes.Buffer
	n, err := io.Copy(&text, io.LimitReader(out, int64(size)+1))
	if err == nil && n > int64(size) {
		err = fmt.Errorf("%s printed more than %d bytes", p.Path, size)
	}
	if err != nil {
		_ = syscall.Kill(-child.Pid, syscall.SIGKILL)
	}
	status, waitErr := wait(child.Pid)
	switch {
	case err != nil:
		return nil, err
	case waitErr != nil:
		return nil, waitErr
	case status != 0:
		return nil, fmt.Errorf("%s ended with wait status %#x", p.Path, int(status))
	}
	return text.Bytes(), nil
}

// wait waits for a program that has closed its output, and kills it if it goes
// on. Landlock lets only the thread that started it do so, so that this one
// cannot block in the wait while another has the timer.
func wait(pid int) (status syscall.WaitStatus, err error) {
	const patience, step = slack / 2, 2 * time.Millisecond
	for waited := time.Duration(0); ; waited += step {
		switch done, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil); {
		case err == syscall.EINTR:
		case err != nil || done == pid:
			return status, err
		case waited == patience:
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		}
		time.Sleep(step)
	}
}
