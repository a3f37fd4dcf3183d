package kit

import (
	"bytes"
	"fmt"
)

// archive builds an initial root file system in the kernel's cpio format
// ("newc" of Documentation/driver-api/early-userspace/buffer-format.rst).
type archive struct {
	b bytes.Buffer
	n int
}

// Modes of what an archive holds.
const (
	modeFolder  = 0o040755
	modeProgram = 0o100755
	modeConsole = 0o020600
)

// folder adds a folder.
func (a *archive) folder(name string) { a.add(name, modeFolder, 0, 0, nil) }

// file adds a file that may be executed.
func (a *archive) file(name string, content []byte) { a.add(name, modeProgram, 0, 0, content) }

// console adds the device that the kernel opens for init.
func (a *archive) console() { a.add("dev/console", modeConsole, 5, 1, nil) }

// bytes ends the archive and returns it.
func (a *archive) bytes() []byte {
	a.add("TRAILER!!!", 0, 0, 0, nil)
	return a.b.Bytes()
}

func (a *archive) add(name string, mode, major, minor int, content []byte) {
	a.n++
	fmt.Fprintf(&a.b, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		a.n, mode, 0, 0, 1, 0, len(content), 0, 0, major, minor, len(name)+1, 0)
	a.b.WriteString(name + "\x00")
	a.pad()
	a.b.Write(content)
	a.pad()
}

// pad aligns to four bytes.
func (a *archive) pad() { a.b.Write(make([]byte, (4-a.b.Len()%4)%4)) }
