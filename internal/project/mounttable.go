package project

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// mount is one line of the table of mounts.
type mount struct {
	device string // major:minor, which names the file system
	root   string // what of the file system is mounted
	point  string // where
}

// mountTable is what is mounted, in the order of mounting. Where the system
// has no such table it is empty and answers no.
type mountTable []mount

// parseMounts reads the text of /proc/self/mountinfo and leaves out lines that
// it does not understand.
func parseMounts(text string) mountTable {
	var table mountTable
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		table = append(table, mount{device: fields[2], root: unescape(fields[3]), point: unescape(fields[4])})
	}
	return table
}

// unescape undoes the kernel's \040 for a space and the like.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// locate returns the file system on which an absolute path without links lies,
// and the path there.
func (t mountTable) locate(at string) (device, inside string, ok bool) {
	best := -1
	for i, m := range t {
		// Of two mounts at one point the later one is seen.
		if within(at, m.point) && (best < 0 || len(m.point) >= len(t[best].point)) {
			best = i
		}
	}
	if best < 0 {
		return "", "", false
	}
	m := t[best]
	return m.device, path.Join(m.root, strings.TrimPrefix(at, m.point)), true
}

// holds tells whether the folder at outer is, or has below it, what is at inner.
func (t mountTable) holds(outer, inner string) bool {
	if resolved, err := filepath.EvalSymlinks(inner); err == nil {
		inner = resolved
	}
	if resolved, err := filepath.EvalSymlinks(outer); err == nil {
		outer = resolved
	}
	outerDevice, outerPath, ok := t.locate(outer)
	innerDevice, innerPath, ok2 := t.locate(inner)
	return ok && ok2 && outerDevice == innerDevice && within(innerPath, outerPath)
}
