package jail

import (
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"aibox/internal/jail/landlock"
	"aibox/internal/jail/seccomp"

	"golang.org/x/sys/unix"
)

func machine() (abilities, error) {
	return abilities{abi: landlock.ABI(), seccomp: seccomp.Supported()}, nil
}

func apply(p Policy, r Report) error {
	warmUp()
	// A dump would hold the user's keys. What the kernel cannot dump, other
	// processes of the user cannot attach to either.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("turn off core dumps: %w", err)
	}
	// Landlock reads /proc/self for its rules, which ends with dumping.
	if err := landlock.Restrict(p.rules()); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("turn off memory dumps: %w", err)
	}
	if seccomp.Supported() {
		if err := seccomp.Install(p.calls()); err != nil {
			return err
		}
	}
	return verify(p, r)
}

// warmUp reads what the Go libraries would read at first use. A missing file
// is as good as it was before.
func warmUp() {
	_ = time.Now().Local().String()
	_, _ = x509.SystemCertPool()
}

// verify tries what the report says is impossible.
func verify(p Policy, r Report) error {
	for _, g := range r.Guards {
		if !g.Enforced {
			continue
		}
		var err error
		switch g.Name {
		case "files":
			err = tryRoot()
		case "TCP ports":
			err = tryConnect(p)
		case "unix sockets":
			err = trySocket(unix.AF_UNIX)
		}
		if err == nil {
			continue
		}
		return fmt.Errorf("check %s: %w", g.Name, err)
	}
	return nil
}

// tryRoot opens the root folder, which no policy allows.
func tryRoot() error {
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return refused(err)
}

// tryConnect connects to a loopback port that the policy does not allow. The
// kernel refuses it before a packet leaves.
func tryConnect(p Policy) error {
	port := 1
	for _, allowed := range p.ports() {
		if int(allowed) == port {
			port++
		}
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return refused(err)
	}
	defer unix.Close(fd)
	return refused(unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}))
}

func trySocket(family int) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return refused(err)
}

// refused turns the result of something forbidden into the result of a check.
func refused(err error) error {
	switch {
	case err == nil:
		return errors.New("what is forbidden still works")
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return nil
	}
	return fmt.Errorf("not refused but failed: %w", err)
}
