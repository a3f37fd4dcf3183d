package proc

import (
	"fmt"
	"os"
)

// firstFD is the number of the first file after the three standard ones.
const firstFD = 3

// Handover numbers the open files that a child gets. Command lines name a file
// by the number that Give returned, so no number is ever computed elsewhere.
// The zero value is ready for use.
type Handover struct {
	names []string
	files []*os.File
}

// Give adds a file under a name and returns the number it has in the child. A
// nil file gets -1 and is not added. A name given twice is a programming error.
func (h *Handover) Give(name string, f *os.File) int {
	if f == nil {
		return -1
	}
	for _, n := range h.names {
		if n == name {
			panic(fmt.Sprintf("bug: file %q given twice", name))
		}
	}
	h.names = append(h.names, name)
	h.files = append(h.files, f)
	return firstFD + len(h.files) - 1
}

// Files returns the files in the order of their numbers, for Cmd.Files.
func (h *Handover) Files() []*os.File { return append([]*os.File(nil), h.files...) }

// String lists the numbers and names, for logs.
func (h *Handover) String() string {
	s := ""
	for i, n := range h.names {
		s += fmt.Sprintf(" %d=%s", firstFD+i, n)
	}
	if s == "" {
		return "none"
	}
	return s[1:]
}
