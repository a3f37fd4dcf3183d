package run

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"aibox/internal/border/terminal"
	"aibox/internal/config"
	"aibox/internal/fault"
	"aibox/internal/wire"
	"aibox/test/allow"
)

func TestBootMessageHoldsNoKey(t *testing.T) {
	const secret = "sk-ant-canary"
	keys, err := terminal.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	b := bootMessage(config.Settings{Allow: allow.List(t, "[::1]:8080")},
		config.Resolved{
			APIKey: config.Secret(secret),
			Mounts: []config.Mount{{Host: "/host/tools", Guest: "/opt/tools"}},
			Env:    []config.EnvVar{{Name: "A", Value: "1"}},
		},
		identity{uid: 1000, gid: 1001, zone: "Europe/Berlin"}, keys, []string{"B=2"}, time.Unix(7, 0))
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range []string{secret, "/host/tools"} {
		if strings.Contains(string(text), no) {
			t.Errorf("the VM is told %q: %s", no, text)
		}
	}
	if !b.API {
		t.Error("the key gate is not served")
	}
	if want := []string{"A=1", "B=2"}; !slices.Equal(b.Env, want) {
		t.Errorf("env %q, want %q", b.Env, want)
	}
	if want := []wire.HostPort{{Port: 8080, IPv6: true}}; !slices.Equal(b.HostPorts, want) {
		t.Errorf("host ports %v, want %v", b.HostPorts, want)
	}
	mount := b.Binds[len(b.Binds)-1]
	if mount != (wire.Bind{Share: "m0", Target: "/opt/tools", ReadOnly: true}) {
		t.Errorf("mount %v is not the read-only one", mount)
	}
}

func TestCommand(t *testing.T) {
	const id = "01234567-89ab-cdef-0123-456789abcdef"
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "exec claude"},
		{Options{Shell: true}, ""},
		{Options{Command: "make"}, "make"},
		{Options{Resume: id}, "exec claude --resume " + id},
	} {
		if got, err := c.o.command(); got != c.want || err != nil {
			t.Errorf("%+v: %q, %v, want %q", c.o, got, err, c.want)
		}
	}
	for _, o := range []Options{
		{Shell: true, Resume: id},
		{Resume: "; rm -rf ~"},
		{Resume: id + "\n"},
		{Resume: strings.ToUpper(id)},
	} {
		if got, err := o.command(); fault.KindOf(err) != fault.Usage || got != "" {
			t.Errorf("%+v: %q, %v, want a usage error", o, got, err)
		}
	}
}

func TestUndoRunsInReverseOnce(t *testing.T) {
	var order []int
	var u undo
	for i := range 3 {
		u.push(func() { order = append(order, i) })
	}
	u.unwind()
	u.unwind()
	if want := []int{2, 1, 0}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestConfinementHasOnlyTheServicesPorts(t *testing.T) {
	p := confinement([]uint16{443, 8080})
	if !slices.Equal(p.ConnectTCP, []uint16{443, 8080}) || !p.DNS || len(p.WriteFiles)+len(p.WriteDirs)+len(p.Exec) != 0 || p.Alone || p.Lax {
		t.Errorf("policy %+v", p)
	}
	for _, path := range append(p.ReadFiles, p.ReadDirs...) {
		if !strings.HasPrefix(path, "/etc/") && !strings.HasPrefix(path, "/run/") {
			t.Errorf("the confined aibox may read %s", path)
		}
	}
}
