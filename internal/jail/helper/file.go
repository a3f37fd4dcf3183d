package helper

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"aibox/internal/jail"
)

const (
	rolePutFile  = "putfile"
	roleReadFile = "readfile"
)

// File is what PutFile writes.
type File struct {
	Path string      // relative to the folder, slashes, no "." or ".." in it
	Mode fs.FileMode // permission bits
	Data []byte      // at most MaxFile
}

// PutFile makes or replaces a plain file in the folder, and the folders on its
// way with the user's rights only. No link, mount or special file on the way or
// in its place leads anywhere: on the way they are an error, in its place they
// are replaced, and readers see the old or the new file whole.
func PutFile(ctx context.Context, folder *os.File, f File, lax bool) error {
	if len(f.Data) > MaxFile {
		return fmt.Errorf("put %s: %d bytes are over the limit of %d", f.Path, len(f.Data), MaxFile)
	}
	_, err := Run(ctx, Call{Role: rolePutFile, Input: f, Folder: folder, Lax: lax})
	return err
}

func preparePut(folder *os.File, input []byte) (jail.Policy, Work, error) {
	var f File
	if err := json.Unmarshal(input, &f); err != nil {
		return jail.Policy{}, nil, err
	}
	return jail.Policy{WriteDirs: []string{FolderPath}}, func(io.Writer) error { return put(folder, f) }, nil
}

// wanted is the input of roleReadFile.
type wanted struct {
	Path string
	Max  int
}

// ReadFile returns the contents of a plain file in the folder: at most limit
// bytes, more is an error. A link or mount on the way, a file that is no plain
// file or has a second name is an error; a missing file's wraps fs.ErrNotExist.
func ReadFile(ctx context.Context, folder *os.File, path string, limit int, lax bool) ([]byte, error) {
	return Run(ctx, Call{Role: roleReadFile, Input: wanted{path, min(limit, MaxFile)}, Folder: folder, Lax: lax})
}

func prepareRead(folder *os.File, input []byte) (jail.Policy, Work, error) {
	var w wanted
	if err := json.Unmarshal(input, &w); err != nil {
		return jail.Policy{}, nil, err
	}
	return jail.Policy{ReadDirs: []string{FolderPath}}, func(out io.Writer) error {
		b, err := read(folder, w)
		if err != nil {
			return err
		}
		_, err = out.Write(b)
		return err
	}, nil
}

// split checks a relative path and returns its names.
func split(p string) ([]string, error) {
	if !fs.ValidPath(p) || p == "." || path.Clean(p) != p || strings.ContainsRune(p, 0) {
		return nil, fmt.Errorf("path %q is not a plain relative one", p)
	}
	return strings.Split(p, "/"), nil
}
