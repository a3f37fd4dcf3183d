// Package names says which names a file of a share may have on the host's
// system. It is pure, so that the rules of every system are tested on any.
package names

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"aibox/internal/share/ninep/proto"
)

// Max is the longest name: in bytes, and on Windows in UTF-16 units.
const Max = 255

// Check returns 0 for a name that is one step down from a folder on the system
// goos, and else the error that the VM gets: a name with a separator or NUL, a
// step to the folder itself or above it, one that is too long, and on Windows
// every name that means something else there than a file of that name.
func Check(goos, name string) proto.Errno {
	switch {
	case name == "" || name == "." || name == "..", strings.ContainsAny(name, "/\x00"):
		return proto.EINVAL
	case goos == "windows":
		return checkWindows(name)
	case len(name) > Max:
		return proto.ENAMETOOLONG
	}
	return 0
}

// checkWindows refuses what Win32 would change or take for a device, a stream
// or a pattern. "CON.txt" is the console as much as "con" is.
func checkWindows(name string) proto.Errno {
	if !utf8.ValidString(name) {
		return proto.EINVAL
	}
	if len(utf16.Encode([]rune(name))) > Max {
		return proto.ENAMETOOLONG
	}
	for _, r := range name {
		if r < ' ' || strings.ContainsRune(`<>:"|?*\`, r) {
			return proto.EINVAL
		}
	}
	if last := name[len(name)-1]; last == '.' || last == ' ' {
		return proto.EINVAL
	}
	stem, _, _ := strings.Cut(name, ".")
	if device(strings.ToUpper(strings.TrimRight(stem, " "))) {
		return proto.EINVAL
	}
	return 0
}

func device(stem string) bool {
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	number, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		number, ok = strings.CutPrefix(stem, "LPT")
	}
	// The superscripts are digits to Windows.
	return ok && utf8.RuneCountInString(number) == 1 && strings.Contains("0123456789¹²³", number)
}
