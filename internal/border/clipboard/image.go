package clipboard

import (
	"bytes"
	"encoding/binary"
)

// kinds are the images that pass, and what tells that the bytes are one.
func kinds() []struct {
	name string
	is   func([]byte) bool
} {
	return []struct {
		name string
		is   func([]byte) bool
	}{
		{"image/png", startsWith("\x89PNG\r\n\x1a\n")},
		{"image/jpeg", startsWith("\xff\xd8\xff")},
		{"image/webp", isWebP},
		{"image/gif", isGIF},
		{"image/bmp", isBMP},
	}
}

func startsWith(magic string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }
}

func isWebP(b []byte) bool {
	return len(b) >= 16 && string(b[:4]) == "RIFF" && string(b[8:15]) == "WEBPVP8" &&
		uint64(binary.LittleEndian.Uint32(b[4:]))+8 <= uint64(len(b))+1
}

// isGIF wants a byte that no text has behind the beginning that any text can have.
func isGIF(b []byte) bool {
	return len(b) >= 13 && (string(b[:6]) == "GIF87a" || string(b[:6]) == "GIF89a") && bytes.IndexByte(b, 0) > 0
}

// isBMP looks at the sizes, since text can begin with the letters.
func isBMP(b []byte) bool {
	if len(b) < 26 || string(b[:2]) != "BM" {
		return false
	}
	header := binary.LittleEndian.Uint32(b[14:])
	return uint64(binary.LittleEndian.Uint32(b[2:])) == uint64(len(b)) && header >= 12 && header <= 124
}

// isImage tells whether b is what the type says.
func isImage(kind string, b []byte) bool {
	for _, k := range kinds() {
		if k.name == kind {
			return k.is(b)
		}
	}
	return false
}

// passing returns those of types that may pass, each once, in the order of kinds.
func passing(types []string) []string {
	var list []string
	for _, k := range kinds() {
		for _, t := range types {
			if t == k.name {
				list = append(list, t)
				break
			}
		}
	}
	return list
}
