// Package prompt reads what a task is told to do, from the command line, a file or
// stdin. An earlier VM may have written the current folder, so what a relative
// path leads to must be in it.
package prompt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"aibox/internal/fault"
)

// MaxBytes bounds a prompt.
const MaxBytes = 1 << 20

// Source says where a prompt comes from.
type Source struct {
	Args     []string // the words of the command line
	File     string   // a path, "-" for Stdin, empty for none
	Stdin    io.Reader
	Terminal bool   // Stdin is a terminal
	Dir      string // the current folder
}

const hint = `aibox task "what to do", or aibox task --file PATH`

// Read returns the words of the command line, then the file's text.
// Without both it reads Stdin, if that is no terminal. An error is of kind
// fault.Usage. It returns early when ctx ends.
func Read(ctx context.Context, s Source) (string, error) {
	var parts []string
	if words := strings.Join(s.Args, " "); words != "" {
		parts = append(parts, words)
	}
	switch {
	case s.File == "-", s.File == "" && len(s.Args) == 0 && !s.Terminal:
		text, err := readStdin(ctx, s.Stdin)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	case s.File != "":
		text, err := readFile(s.Dir, s.File)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return check(strings.Join(parts, "\n\n"))
}

func check(text string) (string, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return "", fault.New(fault.Usage, hint, "the prompt is empty")
	case len(text) > MaxBytes:
		return "", fault.New(fault.Usage, "put the details into a file of the repository and name it in the prompt", "the prompt is over the limit of %d bytes", MaxBytes)
	case !utf8.ValidString(text):
		return "", fault.New(fault.Usage, "save it as UTF-8", "the prompt is not UTF-8")
	case strings.ContainsRune(text, 0):
		return "", fault.New(fault.Usage, "remove it", "the prompt holds a zero byte")
	}
	return text, nil
}

// readStdin reads to the end or to more than a prompt can have. A reading that
// goes on after ctx's end ends with the process.
func readStdin(ctx context.Context, stdin io.Reader) (string, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(stdin, MaxBytes+1))
		done <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-done:
		if r.err != nil {
			return "", fault.New(fault.Usage, hint, "cannot read the prompt from stdin: %w", r.err)
		}
		return string(r.text), nil
	}
}

// readFile reads a plain file. The way to a relative one, links included, must
// stay in the current folder: an earlier VM may have put the link there.
func readFile(dir, path string) (string, error) {
	f, err := openFile(dir, path)
	if err != nil {
		return "", fileError(path, err)
	}
	defer f.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(io.LimitReader(f, MaxBytes+1)); err != nil {
		return "", fileError(path, err)
	}
	return text.String(), nil
}

// Why a file is refused.
var (
	errNotPlain = errors.New("it is not a plain file")
	errLink     = errors.New("it is a link")
)

func openFile(dir, path string) (*os.File, error) {
	if filepath.IsAbs(path) {
		return openPlain(func() (fs.FileInfo, error) { return os.Lstat(path) },
			func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|plainFlags, 0) })
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	path = filepath.Clean(path)
	return openPlain(func() (fs.FileInfo, error) { return root.Stat(path) },
		func() (*os.File, error) { return root.OpenFile(path, os.O_RDONLY|plainFlags&^noFollow, 0) })
}

// openPlain looks before it opens, since opening a device can do something by
// itself, and then at what it opened, which may be another file.
func openPlain(look func() (fs.FileInfo, error), open func() (*os.File, error)) (*os.File, error) {
	before, err := look()
	if err != nil {
		return nil, err
	}
	if err := plainFile(before); err != nil {
		return nil, err
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = plainFile(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func plainFile(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return errLink
	case !info.Mode().IsRegular():
		return errNotPlain
	case info.Size() > MaxBytes:
		return fmt.Errorf("it has %d bytes, over the limit of %d", info.Size(), MaxBytes)
	}
	return nil
}

func fileError(path string, err error) error {
	todo := "name a plain file of the current folder"
	switch {
	case errors.Is(err, errLink):
		todo = "name the file that the link leads to"
	case errors.Is(err, fs.ErrNotExist):
		todo = "check the path"
	case strings.Contains(err.Error(), "escapes"):
		return fault.New(fault.Usage, "copy it into the folder, or name it by its absolute path", "the prompt file %q is outside of the current folder", path)
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return fault.New(fault.Usage, todo, "cannot use the prompt file %q: %w", path, err)
}
