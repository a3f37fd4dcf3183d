package seccomp

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
)

const pid = 4242

func machines() map[string]*arch.Info {
	return map[string]*arch.Info{"amd64": arch.X86_64, "arm64": arch.AARCH64}
}

// filter runs an assembled filter as the kernel would.
type filter struct {
	t       testing.TB
	machine *arch.Info
	vm      *bpf.VM
}

func newFilter(t testing.TB, o Options, machine *arch.Info) filter {
	t.Helper()
	p := program(o, pid, machine)
	if len(p) > 4096 {
		t.Fatalf("filter has %d instructions, the kernel takes 4096", len(p))
	}
	if _, err := bpf.Assemble(p); err != nil {
		t.Fatal(err)
	}
	vm, err := bpf.NewVM(p)
	if err != nil {
		t.Fatal(err)
	}
	return filter{t, machine, vm}
}

// run returns the filter's verdict on one call.
func (f filter) run(machine uint32, nr uint32, args [6]uint64) verdict {
	// struct seccomp_data; the emulator reads words as big-endian, so each word
	// is written so and the halves of an argument keep the machine's order.
	var data [64]byte
	binary.BigEndian.PutUint32(data[0:], nr)
	binary.BigEndian.PutUint32(data[4:], machine)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(a>>32))
	}
	v, err := f.vm.Run(data[:])
	if err != nil {
		f.t.Fatal(err)
	}
	return verdict(uint32(v))
}

func (f filter) call(name string, args ...uint64) verdict {
	f.t.Helper()
	nr, ok := f.machine.SyscallNames[name]
	if !ok {
		f.t.Fatalf("no system call %s on %s", name, f.machine.Name)
	}
	var a [6]uint64
	copy(a[:], args)
	return f.run(uint32(f.machine.ID), uint32(nr), a)
}

// variants are the options in use and their extremes.
func variants() map[string]Options {
	return map[string]Options{
		"none":   {},
		"main":   {Internet: true, Terminal: true, Signal: []int{77, -77, -99}},
		"helper": {List: true, Write: true},
		"git":    {List: true, Exec: true},
		"shares": {List: true, Write: true, Tree: true},
		"modes":  {List: true, Write: true, Tree: true, Modes: true},
		"desk":   {Exec: true, Desktop: true},
		"all":    {Internet: true, Terminal: true, List: true, Write: true, Exec: true, Signal: []int{77}},
	}
}

// TestEveryCall compares the assembled filter, for each number and many
// arguments, with what the data says.
func TestEveryCall(t *testing.T) {
	values := []uint64{0, 1, 2, 4, 5, 6, 8, 9, 13, 17, 41, 77, 262, 1030, pid, ^uint64(76), cloneThread, cloneThread | 0x10000000, msgFastOpen,
		msgFastOpen | 0x4000,
		sockStream | sockFlags, sockDgram | sockFlags, 3 | sockFlags, 0x5401, 0x5402, 0x5412, 0x5413, 0x541c, 1<<32 | 2, ^uint64(0)}
	for arch, machine := range machines() {
		for name, o := range variants() {
			t.Run(arch+"/"+name, func(t *testing.T) {
				f, m := newFilter(t, o, machine), newMeaning(o, machine)
				for nr := range uint32(500) {
					conditional := slices.ContainsFunc(m.allowed[machine.SyscallNumbers[int(nr)]], func(w [][]condition) bool { return len(w) > 0 })
					for i, v := range values {
						for j := range values {
							if !conditional && (i+j)%17 != 0 {
								continue // arguments do not matter: a few will do
							}
							args := [6]uint64{v, values[j], values[(i+j)%len(values)], values[(i*7+j)%len(values)]}
							got := f.run(uint32(machine.ID), nr, args)
							if want := m.of(nr, args); got != want {
								t.Fatalf("%s(%x) = %#x, want %#x", machine.SyscallNumbers[int(nr)], args, got, want)
							}
						}
					}
				}
			})
		}
	}
}

// meaning is what the data says, without jumps.
type meaning struct {
	allowed map[string][][][]condition
	lethal  map[string]bool
	machine *arch.Info
}

func newMeaning(o Options, machine *arch.Info) meaning {
	m := meaning{map[string][][][]condition{}, map[string]bool{}, machine}
	for _, g := range allowed(o, pid) {
		for _, c := range g {
			m.allowed[c.name] = append(m.allowed[c.name], c.when)
		}
	}
	for _, c := range lethal(o) {
		m.lethal[c.name] = true
	}
	return m
}

func (m meaning) of(nr uint32, args [6]uint64) verdict {
	name := m.machine.SyscallNumbers[int(nr)]
	for _, when := range m.allowed[name] {
		if len(when) == 0 || slices.ContainsFunc(when, func(w []condition) bool { return holds(w, args) }) {
			return allow
		}
	}
	switch {
	case len(m.allowed[name]) > 0:
		return refuse
	case name == "clone3":
		return unknown
	case m.lethal[name]:
		return killProcess
	}
	return refuse
}

func holds(conditions []condition, args [6]uint64) bool {
	for _, c := range conditions {
		a := args[c.arg]
		switch {
		case c.test == equals && a != c.value,
			c.test == anyBitSet && a&c.value == 0,
			c.test == noBitSet && a&c.value != 0:
			return false
		}
	}
	return true
}

func TestArguments(t *testing.T) {
	f := newFilter(t, variants()["main"], arch.X86_64)
	for _, test := range []struct {
		name string
		args []uint64
		want verdict
	}{
		{"socket", []uint64{afInet, sockStream | sockFlags, 0}, allow},
		{"socket", []uint64{afInet6, sockStream | sockFlags, protoTCP}, allow},
		{"socket", []uint64{afInet, sockDgram | sockFlags, protoUDP}, allow},
		{"socket", []uint64{afInet, sockStream | sockFlags, 262}, refuse},    // MPTCP, which Landlock does not limit
		{"socket", []uint64{afInet, sockStream | sockFlags, 132}, refuse},    // SCTP
		{"socket", []uint64{afInet, 3 | sockFlags, 1}, refuse},               // raw
		{"socket", []uint64{afInet, sockDgram | sockFlags, 1}, refuse},       // ping
		{"socket", []uint64{1, sockStream | sockFlags, 0}, refuse},           // unix
		{"socket", []uint64{16, 3 | sockFlags, 0}, refuse},                   // netlink
		{"socket", []uint64{17, 3 | sockFlags, 0}, refuse},                   // packet
		{"socket", []uint64{38, 5 | sockFlags, 0}, refuse},                   // kernel crypto
		{"socket", []uint64{40, sockStream | sockFlags, 0}, refuse},          // vsock
		{"socket", []uint64{1<<32 | afInet, sockStream | sockFlags}, refuse}, // garbage above the int
		{"socketpair", []uint64{1, sockStream, 0}, refuse},
		{"sendto", []uint64{3, 0, 0, 0x4000}, allow},
		{"sendto", []uint64{3, 0, 0, 0x4000 | msgFastOpen}, refuse},
		{"sendto", []uint64{3, 0, 0, 0xffffffff00000000 | msgFastOpen}, refuse},
		{"sendmsg", []uint64{3, 0, msgFastOpen}, refuse},
		{"sendmmsg", []uint64{3, 0, 1, msgFastOpen}, refuse},
		{"setsockopt", []uint64{3, protoTCP, 1}, allow},
		{"setsockopt", []uint64{3, protoTCP, 30}, refuse},  // TCP_FASTOPEN_CONNECT
		{"setsockopt", []uint64{3, protoTCP, 31}, refuse},  // TCP_ULP
		{"setsockopt", []uint64{3, solSocket, 26}, refuse}, // SO_ATTACH_FILTER
		{"setsockopt", []uint64{3, solSocket, 50}, refuse}, // SO_ATTACH_BPF
		{"bind", nil, refuse},
		{"listen", nil, refuse},
		{"ioctl", []uint64{0, 0x5401}, allow},
		{"ioctl", []uint64{0, 0x5402}, allow},
		{"ioctl", []uint64{0, 0x5413}, allow},
		{"ioctl", []uint64{0, 0x5412}, refuse}, // TIOCSTI
		{"ioctl", []uint64{0, 0x541c}, refuse}, // TIOCLINUX
		{"ioctl", []uint64{0, 0x8901}, refuse}, // FIOSETOWN
		{"fcntl", []uint64{3, 1030}, allow},
		{"fcntl", []uint64{3, 8}, refuse},  // F_SETOWN
		{"fcntl", []uint64{3, 10}, refuse}, // F_SETSIG
		{"mmap", []uint64{0, 4096, 3}, allow},
		{"mmap", []uint64{0, 4096, 7}, refuse},
		{"mprotect", []uint64{0, 4096, 5}, refuse},
		{"pkey_mprotect", []uint64{0, 4096, 5}, refuse},
		{"clone", []uint64{0x50f00}, allow}, // the Go runtime's flags for a thread
		{"clone", []uint64{17}, refuse},
		{"clone", []uint64{cloneThread | 0x10000000}, refuse},
		{"clone3", nil, unknown},
		{"kill", []uint64{pid, 9}, allow},
		{"kill", []uint64{77, 9}, allow},
		{"kill", []uint64{^uint64(98), 9}, allow},
		{"kill", []uint64{99, 9}, refuse},
		{"kill", []uint64{0, 9}, refuse},
		{"kill", []uint64{^uint64(0), 9}, refuse},
		{"tgkill", []uint64{pid, 5, 23}, allow},
		{"tgkill", []uint64{77, 77, 9}, refuse},
		{"tkill", []uint64{77, 9}, refuse},
		{"rt_sigqueueinfo", nil, refuse},
		{"pidfd_open", []uint64{1}, refuse},
		{"execve", nil, killProcess},
		{"ptrace", nil, killProcess},
		{"chmod", nil, refuse},
		{"memfd_create", nil, refuse},
		{"prctl", nil, refuse},
		{"personality", nil, refuse},
		{"chdir", nil, refuse},
	} {
		if got := f.call(test.name, test.args...); got != test.want {
			t.Errorf("%s(%#x) = %#x, want %#x", test.name, test.args, got, test.want)
		}
	}
}

// TestForeignMachine: calls in the numbers of another machine type (int 0x80,
// x32) must not pass, whatever they mean there.
func TestForeignMachine(t *testing.T) {
	f := newFilter(t, variants()["all"], arch.X86_64)
	for nr := range uint32(700) {
		for _, machine := range []*arch.Info{arch.I386, arch.AARCH64, arch.ARM} {
			if got := f.run(uint32(machine.ID), nr, [6]uint64{}); got != refuse {
				t.Errorf("call %d of %s = %#x, want EPERM", nr, machine.Name, got)
			}
		}
		if got := f.run(uint32(arch.X86_64.ID), nr|0x40000000, [6]uint64{}); got != refuse {
			t.Errorf("x32 call %d = %#x, want EPERM", nr, got)
		}
	}
}

// TestNamesExist catches a misspelt call, which would be left out in silence.
func TestNamesExist(t *testing.T) {
	o := variants()["all"]
	all := append(allowed(o, pid), lethal(o))
	for _, g := range all {
		for _, c := range g {
			known := false
			for _, m := range machines() {
				_, ok := m.SyscallNames[c.name]
				known = known || ok
			}
			if !known {
				t.Errorf("no machine type has a system call %q", c.name)
			}
		}
	}
}

// TestNeverAllowed lists what no option may let pass.
func TestNeverAllowed(t *testing.T) {
	never := append(names("bind", "listen", "socketpair", "prctl", "memfd_create", "memfd_secret", "pidfd_open",
		"chmod", "fchmodat", "chown", "fchownat", "setxattr", "utimensat", "linkat", "symlinkat", "mknodat",
		"rt_sigqueueinfo", "setpgid", "setsid", "tkill", "sendmmsg", "personality", "setuid", "setresuid", "capset", "mq_open", "shmat",
		"pkey_mprotect", "remap_file_pages", "vmsplice", "clone3"), lethal(Options{Exec: true})...)
	for _, variant := range []string{"all", "desk"} {
		calls := Calls(variants()[variant])
		for _, c := range never {
			ending := variant == "desk" && (c.name == "prctl" || c.name == "setpgid") // prctl for the death signal
			if slices.Contains(calls, c.name) && !ending {
				t.Errorf("%s is allowed: %s", variant, c.name)
			}
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add(uint32(0), uint32(arch.X86_64.ID), uint64(0), uint64(0), uint64(0), uint64(0))
	f.Add(uint32(41), uint32(arch.X86_64.ID), uint64(afInet), uint64(sockStream|sockFlags), uint64(6), uint64(0))
	f.Add(uint32(56), uint32(arch.X86_64.ID), uint64(cloneThread), uint64(0), uint64(0), uint64(0))
	f.Add(uint32(11), uint32(arch.I386.ID), uint64(0), uint64(0), uint64(0), uint64(0))
	o := variants()["main"]
	main, m := newFilter(f, o, arch.X86_64), newMeaning(o, arch.X86_64)
	f.Fuzz(func(t *testing.T, nr, machine uint32, a, b, c, d uint64) {
		args := [6]uint64{a, b, c, d}
		want := refuse
		if machine == uint32(arch.X86_64.ID) {
			want = m.of(nr, args)
			if nr >= 0x40000000 {
				want = refuse
			}
		}
		if got := main.run(machine, nr, args); got != want {
			t.Errorf("call %d of machine %#x with %x = %#x, want %#x", nr, machine, args, got, want)
		}
	})
}
