package bwrap

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"aibox/internal/fault"
	"aibox/internal/proc"
)

func TestExplain(t *testing.T) {
	exit := func(line string) error { return &proc.ExitError{Name: "qemu", How: "exit status 1", LastLine: line} }
	other := errors.New("other")
	for _, c := range []struct {
		err  error
		kind fault.Kind
		part string
	}{
		{exit("bwrap: setting up uid map: Permission denied"), fault.Machine, "does not let users make the namespaces"},
		{exit("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"), fault.Machine, "does not let users make the namespaces"},
		{exit("bwrap: Unknown option --bind-fd"), fault.Machine, "too old"},
		{exit("bwrap: open /proc/2/ns/ns failed: No such file or directory"), fault.Machine, "own process in /proc"},
		{exit("bwrap: Race condition binding dirfd"), fault.Refused, "was replaced"},
		{exit("bwrap: Can't find source path /x: No such file"), fault.Machine, "make the sandbox"},
		{fmt.Errorf("start qemu: %w", syscall.EPERM), fault.Machine, "does not let users make the namespaces"},
		{fmt.Errorf("start qemu: %w", syscall.ENOSPC), fault.Machine, "does not let users make the namespaces"},
		{exit("qemu: bwrap: not ours"), fault.Failed, "qemu: bwrap: not ours"},
		{other, fault.Failed, "other"},
	} {
		got := Explain(c.err)
		if fault.KindOf(got) != c.kind || !strings.Contains(got.Error(), c.part) || !errors.Is(got, c.err) {
			t.Errorf("Explain(%v) = kind %d, %v", c.err, fault.KindOf(got), got)
		}
	}
}

func TestRefusedHint(t *testing.T) {
	for _, c := range []struct{ file, value, want string }{
		{appArmor, "1\n", "flags=(unconfined) { userns, }"},
		{"/proc/sys/user/max_user_namespaces", "0\n", "sysctl -w user.max_user_namespaces"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0\n", "kernel.unprivileged_userns_clone=1"},
		{"", "", "administrator"},
	} {
		got := refusedHint(func(file string) ([]byte, error) {
			if file == c.file {
				return []byte(c.value), nil
			}
			return nil, fs.ErrNotExist
		})
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: hint %q has no %q", c.file, got, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(); fault.KindOf(err) != fault.Machine || !strings.Contains(fault.HintOf(err), "install bubblewrap") {
		t.Errorf("got %v, hint %q", err, fault.HintOf(err))
	}
}
