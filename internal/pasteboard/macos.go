package pasteboard

import (
	"bytes"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"
)

// osascript is the program of macOS that every clipboard can be read with.
const osascript = "osascript"

// appleClasses are AppleScript's names of image types: as "clipboard info" prints
// them, and as a script asks for them.
func appleClasses() []struct{ mime, info, class string } {
	return []struct{ mime, info, class string }{
		{"image/png", "«class PNGf»", "«class PNGf»"},
		{"image/jpeg", "JPEG picture", "JPEG picture"},
		{"image/gif", "GIF picture", "GIF picture"},
		{"image/bmp", "«class BMP »", "«class BMP »"},
	}
}

// macOS returns macOS's program. It was never run there: its arguments and its
// answers are those that Apple documents.
func macOS(value func(string) string) []Program {
	path := find(osascript, value("PATH"))
	if path == "" {
		return nil
	}
	return []Program{{
		Path: path, Apple: true, Env: []string{"LANG=C", "PATH=/usr/bin:/bin", "HOME=" + filepath.Clean(value("HOME"))},
		List: []string{"-e", "clipboard info"},
	}}
}

// ask returns the arguments that print the contents as a type.
func (p Program) ask(kind string) ([]string, error) {
	if !p.Apple {
		return append(append([]string{}, p.Image...), kind), nil
	}
	for _, c := range appleClasses() {
		if c.mime == kind {
			return []string{"-e", "the clipboard as " + c.class}, nil
		}
	}
	return nil, errors.New("no type that the program knows")
}

// types returns what a program printed for List as types, one a line.
func (p Program) types(out []byte) []byte {
	if !p.Apple {
		return out
	}
	var lines []string
	for name := range strings.SplitSeq(strings.TrimSpace(string(out)), ", ") { // name, size, name, size, …
		for _, c := range appleClasses() {
			if c.info == name {
				lines = append(lines, c.mime)
			}
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// most is how many bytes a program may print for contents of size bytes.
func (p Program) most(size int) int {
	if p.Apple {
		return 2*size + 64
	}
	return size
}

// contents returns what a program printed for an image as its bytes:
// AppleScript writes them as «data PNGf89504E47…».
func (p Program) contents(out []byte) ([]byte, error) {
	if !p.Apple {
		return out, nil
	}
	text, isData := bytes.CutPrefix(bytes.TrimSpace(out), []byte("«data "))
	text, ends := bytes.CutSuffix(text, []byte("»"))
	const class = 4 // characters in front of the digits
	if !isData || !ends || len(text) < class {
		return nil, errors.New("osascript printed no data")
	}
	image := make([]byte, hex.DecodedLen(len(text)-class))
	if _, err := hex.Decode(image, text[class:]); err != nil {
		return nil, errors.New("osascript printed no data")
	}
	return image, nil
}
