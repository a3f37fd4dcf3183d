package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestChildHasNoneOfTheUsersKeys(t *testing.T) {
	name := fmt.Sprintf("aibox-test-%d", os.Getpid())
	id, err := unix.AddKey("user", name, []byte("secret"), unix.KEY_SPEC_SESSION_KEYRING)
	if err == unix.ENOSYS || err == unix.EPERM {
		t.Skipf("no keyrings here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unix.KeyctlInt(unix.KEYCTL_INVALIDATE, id, 0, 0, 0) })
	cmd := self("key " + name)
	control := exec.Command(cmd.Path)
	control.Env = cmd.Env
	if out, err := control.Output(); err != nil || string(out) != "true\n" {
		t.Fatalf("a child that was not started by this package: %q, %v", out, err)
	}
	out, err := Output(context.Background(), cmd)
	if err != nil || strings.TrimSpace(string(out)) != "false" {
		t.Errorf("the child finds the key: %q, %v", out, err)
	}
}
