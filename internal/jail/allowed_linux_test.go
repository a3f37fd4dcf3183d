package jail

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// allowed is what aibox does once its virtual machine runs.
func allowed() []action {
	return []action{
		{"collect garbage", collect, nil},
		{"start threads", startThreads, nil},
		{"preempt loops", preempt, nil},
		{"read names files", func(*stage) error { return readAll("/etc/hosts") }, nil},
		{"read resolver's file", func(*stage) error { return readAll("/etc/resolv.conf") }, nil},
		{"look up name", func(s *stage) error { return lookup(s, "host.example.test") }, nil},
		{"look up name over TCP", func(s *stage) error { return lookup(s, "tcp.example.test") }, nil},
		{"look up local name", func(s *stage) error {
			_, err := (&net.Resolver{PreferGo: true}).LookupHost(context.Background(), "localhost")
			return err
		}, nil},
		{"connect to an allowed port", func(s *stage) error { return echo(s.Allowed, nil) }, nil},
		{"speak TLS", speakTLS, nil},
		{"copy between connections", splice, nil},
		{"write log", writeLog, nil},
		{"use terminal", useTerminal, nil},
		{"get signal", getSignal, nil},
		{"speak SSH", speakSSH, nil},
		{"know the time zone", func(*stage) error {
			if zone := time.Unix(0, 0).Format("MST"); zone != "CET" {
				return fmt.Errorf("zone %s, want CET", zone)
			}
			return nil
		}, nil},
		{"end child", endChild, nil}, // last: the child is gone then
	}
}

func collect(*stage) error {
	var keep [][]byte
	for i := range 200 {
		keep = append(keep, make([]byte, 1<<20))
		if i%20 == 0 {
			keep = nil
			runtime.GC()
		}
	}
	runtime.KeepAlive(keep)
	return nil
}

func startThreads(*stage) error {
	var all sync.WaitGroup
	gate := make(chan struct{})
	for range 60 {
		all.Add(1)
		ready := make(chan struct{})
		go func() {
			defer all.Done()
			runtime.LockOSThread() // the thread ends with the goroutine
			close(ready)
			<-gate
			time.Sleep(time.Millisecond)
		}()
		<-ready
	}
	close(gate)
	all.Wait()
	return nil
}

// preempt needs the runtime's own signals: a loop without calls cannot be
// stopped for a collection otherwise.
func preempt(*stage) error {
	done := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			n := 0
			for start := time.Now(); time.Since(start) < 50*time.Millisecond; {
				for range 1_000_000 {
					n++
				}
			}
			done <- n
		}()
	}
	runtime.GC()
	for range runtime.GOMAXPROCS(0) {
		<-done
	}
	return nil
}

func lookup(s *stage, name string) error {
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.DNS)
	}}
	addresses, err := r.LookupHost(context.Background(), name)
	if err != nil {
		return err
	}
	if !slices.Equal(addresses, []string{"192.0.2.7"}) {
		return fmt.Errorf("addresses %v", addresses)
	}
	return nil
}

func echo(address string, config *tls.Config) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	if config != nil {
		c = tls.Client(c, config)
	}
	sent := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	go func() { _, _ = c.Write(sent) }()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(c, got); err != nil {
		return err
	}
	if !bytes.Equal(got, sent) {
		return errors.New("echo differs")
	}
	return nil
}

func speakTLS(s *stage) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA)
	if err := echo(s.TLS, &tls.Config{ServerName: "example.test", RootCAs: roots}); err != nil {
		return err
	}
	// Against the system's certificates the server is unknown, for that reason.
	unknown := x509.UnknownAuthorityError{}
	if err := echo(s.TLS, &tls.Config{ServerName: "example.test"}); !errors.As(err, &unknown) {
		return fmt.Errorf("with the system's certificates: %v", err)
	}
	return nil
}

// splice is io.Copy from one TCP connection to another, which the net package
// hands to the kernel.
func splice(s *stage) error {
	from, err := net.Dial("tcp", s.Allowed)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := net.Dial("tcp", s.Allowed)
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err := from.Write(make([]byte, 100_000)); err != nil {
		return err
	}
	if err := from.(*net.TCPConn).CloseWrite(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.(*net.TCPConn).CloseWrite()
	}()
	n, err := io.Copy(io.Discard, to)
	if err != nil || n != 100_000 {
		return fmt.Errorf("copied %d bytes: %w", n, err)
	}
	return nil
}

func writeLog(s *stage) error {
	if _, err := fmt.Fprintln(s.log, "a line"); err != nil {
		return err
	}
	if _, err := s.log.Stat(); err != nil {
		return err
	}
	if err := unix.Flock(int(s.log.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	return s.log.Sync()
}

func useTerminal(s *stage) error {
	fd := int(s.tty.Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return err
	}
	if _, _, err := term.GetSize(fd); err != nil {
		return err
	}
	if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1); err != nil {
		return err
	}
	if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0); err != nil {
		return err
	}
	return term.Restore(fd, old)
}

func getSignal(*stage) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	defer signal.Stop(signals)
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		return err
	}
	<-signals
	return nil
}

func speakSSH(s *stage) error {
	key, _, _, _, err := ssh.ParseAuthorizedKey(s.SSHKey)
	if err != nil {
		return err
	}
	client, err := ssh.Dial("tcp", s.SSH, &ssh.ClientConfig{HostKeyCallback: ssh.FixedHostKey(key)})
	if err != nil {
		return err
	}
	defer client.Close()
	channel, _, err := client.OpenChannel("session", nil)
	if err != nil {
		return err
	}
	if got, err := io.ReadAll(channel); err != nil || string(got) != "hello" {
		return fmt.Errorf("read %q: %w", got, err)
	}
	return nil
}

// endChild ends the child as package proc does, by its group, and reaps it.
func endChild(s *stage) error {
	if err := s.child.Process.Signal(syscall.Signal(0)); err != nil {
		return err
	}
	if err := syscall.Kill(-s.child.Process.Pid, syscall.SIGKILL); err != nil {
		return err
	}
	if err := s.child.Wait(); err == nil || s.child.ProcessState.ExitCode() != -1 {
		return fmt.Errorf("child ended with %v", s.child.ProcessState)
	}
	return nil
}
