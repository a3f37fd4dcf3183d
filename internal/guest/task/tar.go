package task

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aibox/internal/wire"
)

// send writes the results in dir as a tar, in the order of their names. Where
// there is no bundle it is left out.
func send(w io.Writer, dir string, result []byte) error {
	if err := sendFile(w, dir, wire.ChangesFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("send %s: %w", wire.ChangesFile, err)
	}
	header := wire.ResultHeader(wire.ResultFile, int64(len(result)))
	padding := make([]byte, wire.ResultPadding(int64(len(result)))+2*wire.ResultBlock)
	for _, part := range [][]byte{header[:], result, padding} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("send %s: %w", wire.ResultFile, err)
		}
	}
	return nil
}

func sendFile(w io.Writer, dir, name string) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header := wire.ResultHeader(name, info.Size())
	if _, err := w.Write(header[:]); err != nil {
		return err
	}
	if _, err := io.CopyN(w, f, info.Size()); err != nil {
		return err
	}
	_, err = w.Write(make([]byte, wire.ResultPadding(info.Size())))
	return err
}

// said keeps the last words of a step.
type said struct{ text []byte }

func (s *said) Write(p []byte) (int, error) {
	s.text = append(s.text, p...)
	if len(s.text) > 2*maxSaid {
		s.text = append([]byte(nil), s.text[len(s.text)-maxSaid:]...)
	}
	return len(p), nil
}

// line returns the last line that is not empty.
func (s *said) line() string {
	lines := strings.Split(strings.TrimSpace(string(s.text)), "\n")
	if text := strings.TrimSpace(lines[len(lines)-1]); text != "" {
		return ": " + cutText(text, maxReason)
	}
	return ""
}

func cutText(s string, limit int) string {
	if len(s) > limit {
		s = s[:limit]
	}
	return strings.ToValidUTF8(s, "?")
}
