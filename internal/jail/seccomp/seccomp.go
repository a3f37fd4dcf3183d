// Package seccomp limits which system calls this process can make, by a filter
// that refuses what is not on its list. The list is data that follows from
// Options; every call that an option adds to it is one that most processes
// of aibox do without.
//
// A call that is not on the list fails with EPERM: the Go runtime and its
// libraries try newer calls before older ones and live with an error, and a
// forgotten call should cost one operation, not the user's session. Calls that
// aibox never makes and that are an attacker's next step kill the process at
// once instead; see lethal.
package seccomp

import (
	"fmt"
	"slices"
)

// Options widens the list beyond what every process of aibox needs.
type Options struct {
	// Internet allows new TCP and UDP sockets over IPv4 and IPv6 and what
	// belongs to them. No option allows bind and listen, nor other sockets.
	Internet bool
	// Terminal allows reading and setting a terminal's modes, reading its size, and
	// waiting for input.
	Terminal bool
	// Desktop allows unix sockets, and signals to any process that the kernel's
	// other limits let it reach.
	Desktop bool
	// List allows reading folders and opening files relative to one.
	List bool
	// Write allows making, renaming and removing files and folders.
	Write bool
	// Tree allows making links and reading them, times of open files, and asking for
	// free space.
	Tree bool
	// Modes allows setting modes and times by path.
	Modes bool
	// Exec allows other programs, processes, and what the C library's loader
	// needs for them.
	Exec bool
	// Signal lists processes, and as negative numbers process groups, that may
	// be sent signals besides this process.
	Signal []int
}

// Calls returns the names of the calls that a filter with these options lets
// pass, sorted. Some pass with certain arguments only.
func Calls(o Options) []string {
	var names []string
	for _, g := range allowed(o, 1) {
		for _, c := range g {
			names = append(names, c.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Supported says whether the running kernel can load a filter.
func Supported() bool { return supported() }

// Install loads the filter for all threads. Landlock's Restrict goes first: it
// sets no-new-privileges, without which an ordinary user may not load one.
// Install cannot be undone; a later Install can only narrow.
func Install(o Options) error {
	if err := install(o); err != nil {
		return fmt.Errorf("limit system calls: %w", err)
	}
	return nil
}

// Lethal returns the names of the calls that end the process, sorted.
func Lethal(o Options) []string {
	var names []string
	for _, c := range lethal(o) {
		names = append(names, c.name)
	}
	slices.Sort(names)
	return names
}
