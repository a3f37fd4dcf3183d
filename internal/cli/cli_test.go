package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"aibox/internal/doctor"
	"aibox/internal/fault"
	"aibox/internal/image"
	"aibox/internal/project"
	vmrun "aibox/internal/run"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts in testdata/script read as a manual: each shows commands with
// what they print and how they end. In them
//
//	aibox           is aibox started by an ordinary user, with fakeVM as the VM
//	aibox-real      is the same with the real way to a VM, which needs an image
//	aibox-as-root   is the same started by root
//	aibox-on-KERNEL is the same on another kernel
func TestMain(m *testing.M) {
	if code, ok := child(context.Background(), os.Args[1:]); ok { // a helper of one of those below
		os.Exit(code)
	}
	command := func(change func(*machine)) func() {
		return func() {
			host := thisMachine()
			host.uid, host.kernel, host.runVM, host.copyVM = 1000, "6.12.48-generic", fakeVM, fakeCopy
			host.check, host.locate = fakeCheck, fakeLocate
			host.build = build{Version: "1.2.3", Commit: "abc", Go: "go1.26", OS: "linux", Arch: "amd64"}
			change(&host)
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			context.AfterFunc(ctx, stop)
			os.Exit(run(ctx, os.Args[1:], Stdio{os.Stdin, os.Stdout, os.Stderr}, host))
		}
	}
	testscript.Main(m, map[string]func(){
		"aibox":         command(func(*machine) {}),
		"aibox-real":    command(func(host *machine) { host.runVM, host.locate = vmrun.Run, image.Locate }),
		"aibox-as-root": command(func(host *machine) { host.uid = 0 }),
		"aibox-release": command(func(host *machine) { host.build.Kernel = "0123abcd" }),
		"aibox-on-6.6":  command(func(host *machine) { host.kernel = "6.6.87.2-microsoft-standard-WSL2" }),
		"aibox-on-5.15": command(func(host *machine) { host.kernel = "5.15.0-91-generic" }),
		"aibox-on-odd":  command(func(host *machine) { host.kernel = "unknown" }),
		"hold-run-lock": holdRunLock,
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			app := filepath.Join(e.WorkDir, "home", "src", "app")
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("KEPT", filepath.Join(e.WorkDir, "home", ".aibox", "projects"))
			e.Setenv("NAME", project.Name(app))
			e.Setenv("TERM", "xterm")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each command of a race build ends a second late
			e.Setenv("EUID", strconv.Itoa(os.Geteuid()))
			e.Cd = app
			return os.MkdirAll(app, 0o700)
		},
		Condition: func(name string) (bool, error) {
			if name == "ordinary-user" { // whose rights mean something
				return os.Geteuid() != 0, nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exit": exitIs, "fill": fill},
	})
}

// exitIs runs a command that must end with an exit code: exit CODE COMMAND….
func exitIs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit code command [argument…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if e := (interface{ ExitCode() int })(nil); errors.As(err, &e) {
		code = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if want, err := strconv.Atoi(args[0]); err != nil || code != want {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// fill makes a file of some bytes: fill FILE SIZE.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := make([]byte, size)
	for i := range text {
		text[i] = "#\n"[i%2]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}

// fakeVM shows what a run was asked for, and ends as the script says.
func fakeVM(ctx context.Context, o vmrun.Options) (int, error) {
	fmt.Fprintf(o.Stdout, "shell=%v resume=%q memory=%d cpus=%d image=%q sandbox=%v timings=%v terminal=%v\n",
		o.Shell, o.Resume, o.Memory, o.CPUs, o.Image, !o.NoSandbox, o.Timings, o.Terminal)
	switch end := os.Getenv("FAKE_VM"); end {
	case "":
		return 0, nil
	case "broken":
		return 0, fmt.Errorf("start the VM: %w", fault.New(fault.Machine, "apt install qemu-system-x86", "qemu-system-x86_64 is not installed"))
	case "lacking":
		return 0, fault.New(fault.Machine, "", "the machine lacks something")
	case "hostile text":
		return 0, errors.New("the VM ended: \x1b[2Jaibox: all is well\nsecond line\r\u202e")
	case "interrupted":
		return 0, fmt.Errorf("boot: %w", ctxError(ctx))
	default:
		return strconv.Atoi(end)
	}
}

// fakeLocate finds an image where none is named.
func fakeLocate(s image.Search) (image.Found, error) {
	if s.Flag == "" {
		return image.Found{}, nil
	}
	return image.Locate(s)
}

// fakeCheck finds what the script says.
func fakeCheck(_ context.Context, h doctor.Host) []doctor.Result {
	found := []doctor.Result{
		{Name: "kernel", Status: doctor.OK, Text: h.Kernel},
		{Name: "kvm", Status: doctor.Warning, Text: "/dev/kvm: permission denied", Fix: "sudo usermod -aG kvm $USER"},
	}
	if os.Getenv("FAKE_DOCTOR") == "failure" {
		found = append(found, doctor.Result{Name: "bubblewrap", Status: doctor.Failure, Text: "is not installed", Fix: "sudo apt-get install bubblewrap"})
	}
	return found
}

// fakeCopy is a VM for the demo that shows what it was asked for.
func fakeCopy(_ context.Context, q vmrun.Request, stdout, stderr io.Writer) (int, vmrun.Report, error) {
	config, _ := filepath.Glob(filepath.Join(q.State, ".aibox", "projects", "*", "config.yaml"))
	fmt.Fprintf(os.Stderr, "request: %d config, home=%v image=%q sandbox=%v key=%v\n", len(config), q.Home == os.Getenv("HOME"), q.Image, !q.NoSandbox, q.APIKey != "")
	switch os.Getenv("FAKE_VM") {
	case "lacking":
		fmt.Fprintf(stderr, "aibox: bwrap is not installed\nhint: apt install bubblewrap\n")
		return 4, vmrun.Report{}, nil
	case "broken":
		return 0, vmrun.Report{}, errors.New("start a copy of aibox: out of memory")
	}
	fmt.Fprintf(stderr, "    12.5 ms  start the machine\x1b\nother 1 ms x\n")
	fmt.Fprintf(stdout, "{}\n")
	return 7, vmrun.Report{}, nil
}

// ctxError ends this process's ctx by its own signal and waits for it.
func ctxError(ctx context.Context) error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Signal(os.Interrupt); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// holdRunLock holds the lock of the project in the current folder until it is
// killed, as a run does. It writes into the FIFO of its argument once it does.
func holdRunLock() {
	a := newApp(Stdio{}, machine{uid: 1000, home: os.Getenv("HOME"), lookup: os.LookupEnv})
	k, err := a.here()
	if err == nil {
		err = k.Create()
	}
	if err == nil {
		_, err = k.LockRun()
	}
	if err == nil {
		err = os.WriteFile(os.Args[1], nil, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {} // until the script kills it
}
