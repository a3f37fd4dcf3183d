package proc

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary plays the programs that the tests start.
func TestMain(m *testing.M) {
	if role := os.Getenv("PROC_TEST_ROLE"); role != "" {
		os.Exit(play(role))
	}
	os.Exit(m.Run())
}

func play(role string) int {
	switch role, arg, _ := strings.Cut(role, " "); role {
	case "exit":
		code, _ := strconv.Atoi(arg)
		fmt.Fprintln(os.Stderr, "first words")
		fmt.Fprint(os.Stderr, "last words\x1b[31m\n\n")
		return code
	case "flood":
		for i := range 20000 {
			fmt.Fprintf(os.Stderr, "line %d\n", i)
		}
	case "env":
		fmt.Print(strings.Join(os.Environ(), "\n"))
		wd, _ := os.Getwd()
		fmt.Printf("\n%s\n", wd)
		n, _ := os.Stdin.Read(make([]byte, 1))
		session, _ := unix.Getsid(0)
		fmt.Printf("stdin %d session leader %v\n", n, session == os.Getpid())
	case "files":
		b, _ := io.ReadAll(os.NewFile(3, "a"))
		c, _ := io.ReadAll(os.NewFile(4, "b"))
		fmt.Printf("%s|%s", b, c)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Hour)
	case "gentle":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
	case "family":
		// A child in the same group that holds standard error open.
		p, err := os.StartProcess("/bin/sleep", []string{"sleep", "3600"}, &os.ProcAttr{Files: []*os.File{nil, nil, os.Stderr}})
		if err != nil {
			return 9
		}
		fmt.Println(p.Pid)
	case "floodout":
		for {
			os.Stdout.Write(make([]byte, 4096))
		}
	case "key":
		_, err := unix.KeyctlSearch(unix.KEY_SPEC_SESSION_KEYRING, "user", arg, 0)
		fmt.Println(err == nil)
	case "parent":
		return parent(arg)
	case "gated":
		b, _ := io.ReadAll(os.NewFile(3, "gate"))
		if string(b) != "go" {
			return 1
		}
		fmt.Println("passed")
		time.Sleep(time.Hour)
	}
	return 0
}
