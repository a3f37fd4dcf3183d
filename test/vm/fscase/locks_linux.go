package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"aibox/test/vm/fscase/script"
)

// holder is another process of this program that has a lock.
type holder struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// startHolder returns when the other process has its lock on path.
func startHolder(program, kind, path string) (*holder, error) {
	h := &holder{cmd: exec.Command(program, "hold", kind, path)}
	h.cmd.Stderr = os.Stderr
	var err error
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, errors.Join(err, h.end())
	}
	return h, nil
}

// end has the process end and waits for that.
func (h *holder) end() error {
	h.in.Close()
	return h.cmd.Wait()
}

// hold is the other process: it locks and says so, and ends with its input.
func hold(kind, path string) error {
	if kind != "nothing" {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := lock(kind, f, unix.F_WRLCK, 100, 100); err != nil {
			return fmt.Errorf("lock %s: %w", path, err)
		}
	}
	fmt.Println("held")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// lock takes or gives back a lock at once. flock's are on whole files.
func lock(kind string, f *os.File, how int16, start, length int64) error {
	region := unix.Flock_t{Type: how, Whence: io.SeekStart, Start: start, Len: length}
	switch kind {
	case "fcntl":
		return unix.FcntlFlock(f.Fd(), unix.F_SETLK, &region)
	case "open file":
		return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &region)
	}
	return unix.Flock(int(f.Fd()), map[int16]int{unix.F_RDLCK: unix.LOCK_SH, unix.F_WRLCK: unix.LOCK_EX, unix.F_UNLCK: unix.LOCK_UN}[how]|unix.LOCK_NB)
}

func lockProbes() []probe {
	var list []probe
	for _, kind := range []string{"fcntl", "open file", "flock"} {
		list = append(list, probe{kind + " locks of two processes", func() (string, error) { return locks(kind) }})
	}
	return append(list, probe{"a lock that is waited for", waitForLock})
}

func locks(kind string) (string, error) {
	f, err := os.Create("file")
	if err != nil {
		return "", err
	}
	defer f.Close()
	h, err := startHolder("/proc/self/exe", kind, "file")
	if err != nil {
		return "", err
	}
	busy := errors.Join(
		verdict("shared lock on a held file", errorName(lock(kind, f, unix.F_RDLCK, 150, 10)), "EAGAIN"),
		verdict("exclusive lock on a held file", errorName(lock(kind, f, unix.F_WRLCK, 199, 1)), "EAGAIN"),
	)
	if kind != "flock" {
		busy = errors.Join(busy, verdict("lock beside the held part", errorName(lock(kind, f, unix.F_WRLCK, 200, 0)), "ok"))
	}
	if kind == "fcntl" {
		region := unix.Flock_t{Type: unix.F_WRLCK, Start: 0, Len: 0}
		err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &region)
		busy = errors.Join(busy, err, verdict("the lock's owner", int(region.Pid), h.cmd.Process.Pid), verdict("its start", region.Start, int64(100)))
	}
	return "ok", errors.Join(busy, h.end(),
		verdict("lock after the holder's end", errorName(lock(kind, f, unix.F_WRLCK, 100, 100)), "ok"),
		verdict("unlock", errorName(lock(kind, f, unix.F_UNLCK, 0, 0)), "ok"))
}

// waitForLock waits in the kernel for the other process to end.
func waitForLock() (string, error) {
	f, err := os.Create("file")
	if err != nil {
		return "", err
	}
	defer f.Close()
	h, err := startHolder("/proc/self/exe", "fcntl", "file")
	if err != nil {
		return "", err
	}
	got := make(chan error, 1)
	go func() {
		region := unix.Flock_t{Type: unix.F_WRLCK}
		for {
			if err := unix.FcntlFlock(f.Fd(), unix.F_SETLKW, &region); !errors.Is(err, unix.EINTR) {
				got <- err
				return
			}
		}
	}()
	return "ok", errors.Join(h.end(), <-got)
}

func errorName(err error) string { return script.Outcome("ok", err) }
