package proc

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func self(role string) Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Cmd{Name: "helper", Path: exe, Env: []string{"PROC_TEST_ROLE=" + role}}
}

// started starts cmd and returns it with a reader of its standard output.
func started(t *testing.T, cmd Cmd) (*Process, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	p, err := Start(cmd)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); r.Close() })
	return p, bufio.NewReader(r)
}

func readLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

func TestErrNamesProgramStatusAndLastWords(t *testing.T) {
	for _, c := range []struct{ role, want string }{
		{"exit 0", ""},
		{"exit 7", "helper ended with exit status 7: last words?[31m"},
	} {
		p, _ := started(t, self(c.role))
		<-p.Done()
		got := ""
		if err := p.Err(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.role, got, c.want)
		}
	}
}

func TestErrNamesSignal(t *testing.T) {
	p, out := started(t, self("stubborn"))
	readLine(t, out)
	p.Kill()
	<-p.Done()
	if got := p.Err(); got == nil || got.Error() != "helper ended with signal 9 (killed)" {
		t.Errorf("got %v", got)
	}
	p.Kill() // harmless after the end
	p.Stop(time.Hour)

	p, err := Start(Cmd{Name: "wrapper", Path: "/bin/sh", Args: []string{"-c", "exit 137"}})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if got := p.Err(); got == nil || got.Error() != "wrapper ended with exit status 137, as after signal 9 (killed)" {
		t.Errorf("got %v", got)
	}
}

func TestStopLadder(t *testing.T) {
	p, out := started(t, self("gentle"))
	readLine(t, out)
	p.Stop(time.Minute)
	if err := p.Err(); err != nil {
		t.Errorf("gentle program: %v", err)
	}
	p, out = started(t, self("stubborn"))
	readLine(t, out)
	p.Stop(50 * time.Millisecond)
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "signal 9") {
		t.Errorf("stubborn program: %v", err)
	}
}

func TestTailIsBounded(t *testing.T) {
	copied, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	cmd := self("flood")
	cmd.Stderr = copied
	p, _ := started(t, cmd)
	<-p.Done()
	if got := p.Stderr(); len(got) != TailSize || !strings.HasSuffix(got, "line 19999\n") {
		t.Errorf("tail of %d bytes ends in %q", len(got), got[max(0, len(got)-20):])
	}
	if st, _ := copied.Stat(); st.Size() < 200_000 {
		t.Errorf("copy has only %d bytes", st.Size())
	}
}

func TestChildGetsOnlyWhatItIsGiven(t *testing.T) {
	t.Setenv("SECRET", "x")
	out, err := Output(context.Background(), self("env"))
	if err != nil {
		t.Fatal(err)
	}
	want := "PROC_TEST_ROLE=env\n/\nstdin 0 session leader true\n"
	if string(out) != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

func TestHandover(t *testing.T) {
	file := func(text string) *os.File {
		name := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	var h Handover
	if a, none, b := h.Give("a", file("A")), h.Give("none", nil), h.Give("b", file("B")); a != 3 || none != -1 || b != 4 {
		t.Errorf("numbers %d %d %d, want 3 -1 4", a, none, b)
	}
	if got := h.String(); got != "3=a 4=b" {
		t.Errorf("String() = %q", got)
	}
	cmd := self("files")
	cmd.Files = h.Files()
	out, err := Output(context.Background(), cmd)
	if want := "A|B"; err != nil || string(out) != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
	// Nothing but the three standard files, the given ones, and the folder that ls itself reads.
	cmd = Cmd{Name: "ls", Path: "/bin/ls", Args: []string{"/proc/self/fd"}, Files: h.Files()}
	out, err = Output(context.Background(), cmd)
	if want := "0\n1\n2\n3\n4\n5\n"; err != nil || string(out) != want {
		t.Errorf("open files %q, %v, want %q", out, err, want)
	}
}

func TestLeftoverOfGroupEnds(t *testing.T) {
	p, out := started(t, self("family"))
	pid := readLine(t, out)
	<-p.Done()
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
}

func TestOutputLimits(t *testing.T) {
	if _, err := Output(context.Background(), self("floodout")); err == nil || !strings.Contains(err.Error(), "printed more than") {
		t.Errorf("flood: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Output(ctx, self("stubborn")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline: %v", err)
	}
}

// A daemon that left the program's group and keeps its standard output open.
func TestOutputDoesNotWaitForDaemons(t *testing.T) {
	mark := "PROC_TEST_MARK=" + strconv.Itoa(os.Getpid()) + "-daemon"
	pid := filepath.Join(t.TempDir(), "pid")
	_, err := Output(t.Context(), Cmd{Name: "shell", Path: "/bin/sh", Env: []string{mark}, Args: []string{
		"-c", `exec 3>&1; echo $(setsid sh -c 'sleep 3600 >&3 3>&- & echo $!') > "$0"`, pid}})
	if err == nil || !strings.Contains(err.Error(), "holds its output open") {
		t.Errorf("got %v", err)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	daemon, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || syscall.Kill(daemon, syscall.SIGKILL) != nil {
		t.Fatalf("there was no daemon: %q", text)
	}
	nothingWith(t, mark)
}

func TestStartFails(t *testing.T) {
	gate, err := NewGate([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(Cmd{Name: "helper", Path: "/nonexistent", Gate: gate})
	if want := "start helper: run /nonexistent: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := gate.Reader().Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("gate left open: %v", err)
	}
	if _, err := NewGate(make([]byte, maxGate+1)); err == nil {
		t.Error("gate over the limit was made")
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	_, _ = Output(context.Background(), self("exit 0")) // starts the thread
	before := runtime.NumGoroutine()
	for range 10 {
		_, _ = Output(context.Background(), self("exit 1"))
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}
