package doctor

import (
	"strings"
	"testing"
)

func TestKVMFix(t *testing.T) {
	for _, test := range []struct {
		state kvmState
		want  string
	}{
		{kvmState{missing: true, cpu: true}, "modprobe"},
		{kvmState{missing: true}, "firmware"},
		{kvmState{denied: true, group: "kvm"}, "usermod -aG kvm"},
		{kvmState{denied: true, group: "kvm", member: true}, "log in again: you are"},
		{kvmState{denied: true, group: "root"}, "chown root:kvm"},
		{kvmState{}, "dmesg"},
	} {
		if got := test.state.fix(); !strings.Contains(got, test.want) {
			t.Errorf("%+v: %q, want %q in it", test.state, got, test.want)
		}
	}
}
