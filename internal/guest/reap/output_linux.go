package reap

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// maxOutput is how much of a tool's output Output keeps, in bytes.
const maxOutput = 32 << 10

// ErrTimeout is wrapped by Output when the program did not end in time.
var ErrTimeout = errors.New("did not end in time")

// Output runs a program as root with an empty environment and no input, and
// returns its exit code and the last 32 KiB of what it printed on both
// outputs. It kills the program's process group after timeout. A program that
// a signal ended is an error.
func (r *Reaper) Output(timeout time.Duration, argv ...string) (int, string, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, "", fmt.Errorf("run %s: %w", argv[0], err)
	}
	defer null.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return 0, "", fmt.Errorf("run %s: %w", argv[0], err)
	}
	defer read.Close()
	child, err := r.Start(argv[0], argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: []uintptr{null.Fd(), write.Fd(), write.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	write.Close()
	if err != nil {
		return 0, "", err
	}
	text := make(chan string, 1)
	go func() { text <- tail(read) }()

	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-child.Done():
	case <-timer.C:
		_ = child.SignalGroup(syscall.SIGKILL)
		<-child.Done()
		return 0, <-text, fmt.Errorf("run %s: %w", argv[0], ErrTimeout)
	}
	out := <-text
	if status := child.Status(); status.Signaled() {
		return 0, out, fmt.Errorf("run %s: ended by %s", argv[0], status.Signal())
	}
	return child.Status().ExitStatus(), out, nil
}

// tail reads all of r and returns its last maxOutput bytes.
func tail(r io.Reader) string {
	var kept []byte
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		kept = append(kept, buf[:n]...)
		if len(kept) > 2*maxOutput {
			kept = append(kept[:0], kept[len(kept)-maxOutput:]...)
		}
		if err != nil {
			return string(kept[max(0, len(kept)-maxOutput):])
		}
	}
}
