// Package paths swaps the project's path in the VM and on the host, as paths and
// as file URIs, and refuses every path that is not surely in the project.
//
// Who sends these paths: the VM, and the user's IDE on the host. Both directions
// go through one check, since a path of the IDE can lead out by a link of the VM's.
// What is logged: nothing.
package paths

import (
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"aibox/internal/wire"
)

// ErrOutside is a path or URI that is not surely in the project.
var ErrOutside = errors.New("a path that is not in the project")

// maxPath is the longest path in bytes.
const maxPath = 4096

// Project is where the project is on the host.
type Project struct {
	// Roots are the spellings of the project's folder, clean and absolute. The
	// first is the one that the IDE knows.
	Roots []string
	// Check refuses a path below the project that leads through a link. It gets
	// the clean path from the project's folder, "." for that itself.
	Check func(rel string) error
}

// ToHost returns the host's path of one in the VM.
func (p Project) ToHost(guest string) (string, error) {
	return p.swap([]string{wire.GuestProject}, p.Roots[0], guest)
}

// ToGuest returns the VM's path of one on the host.
func (p Project) ToGuest(host string) (string, error) {
	return p.swap(p.Roots, wire.GuestProject, host)
}

func (p Project) swap(from []string, to, full string) (string, error) {
	rel, ok := below(from, full)
	if !ok || p.Check(rel) != nil {
		return "", ErrOutside
	}
	return path.Join(to, rel), nil
}

// below returns the path from the first of roots that full is below. Only a
// clean path has one meaning to everybody.
func below(roots []string, full string) (string, bool) {
	odd := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }
	if len(full) > maxPath || !utf8.ValidString(full) || strings.ContainsFunc(full, odd) || path.Clean(full) != full {
		return "", false
	}
	if slices.Contains(roots, full) {
		return ".", true
	}
	for _, root := range roots {
		if rel, ok := strings.CutPrefix(full, root+"/"); ok {
			return rel, true
		}
	}
	return "", false
}

// schemes are the beginnings of URIs that name a file: the two others are
// VS Code's for the sides of a diff.
func schemes() []string { return []string{"file://", "_claude_fs_right:", "_claude_fs_left:"} }

// URIToHost is ToHost for a file URI.
func (p Project) URIToHost(uri string) (string, error) { return swapURI(uri, p.ToHost) }

// URIToGuest is ToGuest for a file URI.
func (p Project) URIToGuest(uri string) (string, error) { return swapURI(uri, p.ToGuest) }

// swapURI reads the path, escaped or not, and writes the swapped one escaped, so
// that a second reader cannot find another path in it. A URI with a host has no
// path that is absolute, and is refused with those.
func swapURI(uri string, swap func(string) (string, error)) (string, error) {
	for _, scheme := range schemes() {
		rest, ok := strings.CutPrefix(uri, scheme)
		if !ok {
			continue
		}
		plain, err := url.PathUnescape(rest)
		if err != nil {
			return "", ErrOutside
		}
		swapped, err := swap(plain)
		if err != nil {
			return "", err
		}
		return scheme + (&url.URL{Path: swapped}).EscapedPath(), nil
	}
	return "", ErrOutside
}

// FileURI is the file URI of an absolute path.
func FileURI(full string) string { return "file://" + (&url.URL{Path: full}).EscapedPath() }
