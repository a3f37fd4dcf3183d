package bwrap

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aibox/test/golden"
)

func TestArguments(t *testing.T) {
	for name, s := range map[string]Sandbox{
		"least": {Program: "/bin/true"},
		"all": {
			Binds: []Bind{
				{Source: "/usr/lib/libc.so.6", Dest: "/lib/libc.so.6"},
				{FD: 4, Dest: "/shares/project", Access: Writable},
				{FD: 5, Dest: "/shares/m0"},
				{Source: "/dev/kvm", Dest: "/dev/kvm", Access: Device},
				{Source: "/with space,comma:colon\nline", Dest: "/x", Access: Writable},
			},
			Links:       []Link{{Target: "usr/lib", Path: "/lib"}},
			LibraryPath: []string{"/lib", "/usr/lib"},
			Program:     "/bin/program", Args: []string{"--flag", "-- x"},
			Held: []Bind{{Source: "/bin/program", Dest: "/bin/program"}},
			Gate: 6, Seccomp: 7,
		},
		"no gate": {Program: "/bin/program", Held: []Bind{{Source: "/bin/program", Dest: "/bin/program"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(s.Arguments(), "\n") + "\n-- gate --\n" + strings.ReplaceAll(string(s.GateData()), "\x00", "\\0\n")
			golden.Check(t, filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".golden"), got)
		})
	}
}

func TestParseList(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"glibc": {"\tlinux-vdso.so.1 (0x00007f)\n\tlibm.so.6 => /lib/x/libm.so.6 (0x00007f)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n",
			[]string{"/lib/x/libm.so.6", "/lib64/ld-linux-x86-64.so.2"}},
		"space and bracket in a path": {"\tliba.so => /a b (0x1)/liba.so (0x00007f)\n", []string{"/a b (0x1)/liba.so"}},
		"named loader":                {"\t/lib64/ld.so => /opt/ld.so (0x1)\n", []string{"/lib64/ld.so", "/opt/ld.so"}},
		"missing library":             {"\tliba.so => not found\n", nil},
		"musl":                        {"\t/lib/ld-musl-x86_64.so.1 (0x1)\n\tlibc.so => /lib/ld-musl-x86_64.so.1 (0x1)\n", []string{"/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-x86_64.so.1"}},
	} {
		if diff := cmp.Diff(c.want, parseList([]byte(c.in))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
