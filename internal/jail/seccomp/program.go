package seccomp

import (
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
)

// verdict is what a filter returns to the kernel.
type verdict uint32

const (
	allow       verdict = 0x7fff0000
	refuse      verdict = 0x00050000 | 1  // fails with EPERM
	unknown     verdict = 0x00050000 | 38 // fails with ENOSYS
	killProcess verdict = 0x80000000
)

// Offsets in the kernel's struct seccomp_data. The halves of an argument are
// in the order of a little-endian machine, as all supported types are.
const (
	offNumber  = 0
	offMachine = 4
	offArgs    = 16
)

// x32Bit marks calls of amd64's 32-bit relative, which share its machine type.
const x32Bit = 0x40000000

// program assembles the filter for the process pid. Every block of it begins
// with the call's number in the accumulator and either returns or skips itself
// before that is overwritten. Calls that the machine type lacks are left out.
//
// The library's own assembler is not used: after a condition that does not
// hold, its code compares the next numbers with the argument it loaded, so
// that a chosen argument passes for an allowed call.
func program(o Options, pid int, machine *arch.Info) []bpf.Instruction {
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offMachine, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(machine.ID), SkipTrue: 1},
		ret(refuse), // numbers of another machine type mean other calls
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: x32Bit, SkipFalse: 1},
		ret(refuse),
	}
	add := func(calls group, v verdict) {
		for _, c := range calls {
			if number, ok := machine.SyscallNames[c.name]; ok {
				p = append(p, block(uint32(number), c.when, v)...)
			}
		}
	}
	add(merge(allowed(o, pid)), allow)
	// The C library falls back from clone3, whose flags no filter can see, to
	// clone for this error alone.
	add(names("clone3"), unknown)
	add(lethal(o), killProcess)
	return append(p, ret(refuse))
}

// merge joins what the groups say of each call.
func merge(groups []group) group {
	var merged group
	at := map[string]int{}
	for _, g := range groups {
		for _, c := range g {
			i, known := at[c.name]
			switch {
			case !known:
				at[c.name] = len(merged)
				merged = append(merged, call{c.name, append([][]condition(nil), c.when...)})
			case len(c.when) == 0:
				merged[i].when = nil
			case len(merged[i].when) > 0:
				merged[i].when = append(merged[i].when, c.when...)
			}
		}
	}
	return merged
}

// block returns v for the call if one set of conditions holds or there is none,
// refuses it if none holds, and skips itself for another call.
func block(number uint32, when [][]condition, v verdict) []bpf.Instruction {
	body := []bpf.Instruction{ret(v)}
	if len(when) > 0 {
		body = nil
		for _, set := range when {
			body = append(body, all(set, v)...)
		}
		body = append(body, ret(refuse))
	}
	return append([]bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: number, SkipTrue: 1},
		bpf.Jump{Skip: uint32(len(body))},
	}, body...)
}

// all returns v if all conditions hold, and else runs past its own end.
func all(set []condition, v verdict) []bpf.Instruction {
	p := []bpf.Instruction{ret(v)}
	for i := len(set) - 1; i >= 0; i-- {
		c := set[i]
		low := bpf.LoadAbsolute{Off: offArgs + 8*c.arg, Size: 4}
		high := bpf.LoadAbsolute{Off: offArgs + 8*c.arg + 4, Size: 4}
		end := uint8(len(p))
		switch c.test {
		case equals:
			p = append([]bpf.Instruction{
				high, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(c.value >> 32), SkipFalse: end + 2},
				low, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(c.value), SkipFalse: end},
			}, p...)
		case anyBitSet:
			p = append([]bpf.Instruction{low, bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: uint32(c.value), SkipFalse: end}}, p...)
		case noBitSet:
			p = append([]bpf.Instruction{low, bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: uint32(c.value), SkipTrue: end}}, p...)
		}
	}
	return p
}

func ret(v verdict) bpf.Instruction { return bpf.RetConstant{Val: uint32(v)} }
