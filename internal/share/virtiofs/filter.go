package virtiofs

import "encoding/binary"

// The filter refuses to make a file of the user's setuid or setgid. The VM has
// the user's rights on the shared folders, but a setuid file would hand these
// rights on to every other user of the host. Mounting nosuid would not help: the
// host's own view of the folder has no such option. The server's own filter,
// which is an allow list, comes on top.

// rule refuses a system call when its mode has a setuid or setgid bit.
type rule struct {
	call  uint32
	mode  int // number of the argument with the mode
	flags int // number of the argument with open's flags, which must ask to create; -1 for none
}

// Classic BPF, as the kernel's include/uapi/linux/bpf_common.h and seccomp.h have it.
const (
	loadWord     = 0x20
	jumpEqual    = 0x15
	jumpIfSet    = 0x45
	giveBack     = 0x06
	allow        = 0x7fff0000
	refuse       = 0x00050000 | 1 // errno EPERM
	absent       = 0x00050000 | 38
	kill         = 0x80000000
	offsetCall   = 0
	offsetArch   = 4
	offsetArgs   = 16
	sizeArgument = 8

	setIDBits  = 0o6000
	createBits = 0o100 | 0o20000000 // O_CREAT, O_TMPFILE without O_DIRECTORY
)

type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// program returns the filter for one architecture. Calls of gone are answered
// as by a kernel that does not know them: their modes cannot be seen.
func program(arch, foreign uint32, rules []rule, gone []uint32) []instruction {
	p := []instruction{
		{loadWord, 0, 0, offsetArch},
		{jumpEqual, 1, 0, arch},
		{giveBack, 0, 0, kill},
		{loadWord, 0, 0, offsetCall},
		{jumpIfSet, 0, 1, foreign}, // another way to call the same kernel
		{giveBack, 0, 0, kill},
	}
	for _, call := range gone {
		p = append(p, instruction{jumpEqual, 0, 1, call}, instruction{giveBack, 0, 0, absent})
	}
	for _, r := range rules {
		p = append(p, r.block()...)
	}
	return append(p, instruction{giveBack, 0, 0, allow})
}

// block expects nothing and, for another call, ends behind itself.
func (r rule) block() []instruction {
	check := []instruction{
		{loadWord, 0, 0, argument(r.mode)},
		{jumpIfSet, 0, 1, setIDBits},
		{giveBack, 0, 0, refuse},
		{giveBack, 0, 0, allow},
	}
	if r.flags >= 0 {
		check = append([]instruction{
			{loadWord, 0, 0, argument(r.flags)},
			{jumpIfSet, 0, 3, createBits},
		}, check...)
	}
	return append([]instruction{
		{loadWord, 0, 0, offsetCall},
		{jumpEqual, 0, uint8(len(check)), r.call},
	}, check...)
}

func argument(n int) uint32 { return uint32(offsetArgs + n*sizeArgument) }

// encode returns the program as the kernel reads it on a little-endian machine.
func encode(p []instruction) (b []byte) {
	for _, i := range p {
		b = binary.LittleEndian.AppendUint16(b, i.code)
		b = append(b, i.jt, i.jf)
		b = binary.LittleEndian.AppendUint32(b, i.k)
	}
	return b
}
