package rootdisk

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// setIDBits are the modes by which a program gets another's rights.
const setIDBits = 0o6000

// maxStatus bounds dpkg's list of packages, which is kept in memory.
const maxStatus = 16 << 20

// dpkgStatus is dpkg's list of packages in the root file system.
const dpkgStatus = "var/lib/dpkg/status"

// mayBeSetuid lists the programs that keep their setuid bit. Rootless
// containers need them; nothing else in the guest may change its user.
func mayBeSetuid(name string) bool {
	return name == "usr/bin/newuidmap" || name == "usr/bin/newgidmap"
}

// dropped says whether a file of Debian's has no place in the guest: what the
// guest mounts over, documentation but for licences, caches, logs, and the
// machine's package sources, which may hold the address of a private mirror.
func dropped(name string) bool {
	if strings.HasPrefix(name, "usr/share/doc/") {
		// Folders stay for the licences in them.
		return path.Base(name) != "copyright" && strings.Count(name, "/") != 3
	}
	for _, dir := range []string{
		"boot/", "dev/", "proc/", "run/", "sys/", "tmp/", "var/tmp/", "var/log/", "var/cache/", "var/lib/apt/lists/",
		"etc/apt/sources.list.d/", "etc/apt/auth.conf.d/", "etc/systemd/", "usr/share/man/", "usr/share/info/",
		"usr/share/locale/", "usr/share/lintian/", "usr/share/bug/", "usr/share/doc-base/", "usr/lib/cni/",
	} {
		if strings.HasPrefix(name, dir) && name != dir {
			return true
		}
	}
	switch name {
	case varTmp, "etc/apt/sources.list", "etc/.pwd.lock", "etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-",
		"etc/subuid-", "etc/subgid-", "var/lib/dpkg/status-":
		return true
	}
	return false
}

// Content is what is known of a root file system after Write.
type Content struct {
	Dirs   []string // every folder, "" is the root
	Status []byte   // dpkg's list of packages

	blocks int64 // of 4096 bytes, for files and folders
	inodes int64
}

// sift copies the tar stream of a root file system from in to out without what
// is dropped and what replaced names, and lets no entry keep more rights than
// the guest allows. The caller ends the stream.
func sift(in io.Reader, out *tar.Writer, epoch int64, replaced func(string) bool) (*Content, error) {
	s := &Content{}
	gone := map[string]bool{}
	for entries := tar.NewReader(in); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the root file system: %w", err)
		}
		name := strings.Trim(path.Clean("/"+entry.Name), "/")
		if dropped(name) || replaced(name) {
			gone[name] = true
			continue
		}
		link := strings.Trim(path.Clean("/"+entry.Linkname), "/")
		if entry.Typeflag == tar.TypeLink && gone[link] {
			return nil, fmt.Errorf("%s is a second name of %s, which is left out", name, link)
		}
		if err := s.copy(out, harmless(entry, name, epoch), name, entries); err != nil {
			return nil, fmt.Errorf("copy %s: %w", name, err)
		}
	}
	if len(s.Status) == 0 {
		return nil, fmt.Errorf("the root file system has no %s", dpkgStatus)
	}
	return s, nil
}

// harmless returns entry without rights and without what differs from one
// build to the next. Extended attributes go too: they can give rights.
func harmless(entry *tar.Header, name string, epoch int64) *tar.Header {
	h := &tar.Header{
		Typeflag: entry.Typeflag, Name: "./" + name, Linkname: entry.Linkname, Size: entry.Size,
		Mode: entry.Mode & 0o7777, Uid: entry.Uid, Gid: entry.Gid, ModTime: entry.ModTime,
		Format: tar.FormatGNU,
	}
	if !mayBeSetuid(name) {
		h.Mode &^= setIDBits
	}
	if latest := time.Unix(epoch, 0); h.ModTime.After(latest) {
		h.ModTime = latest
	}
	h.ModTime = h.ModTime.Truncate(time.Second)
	return h
}

// copy writes one entry and counts it.
func (s *Content) copy(out *tar.Writer, h *tar.Header, name string, content io.Reader) error {
	if name == dpkgStatus {
		status, err := io.ReadAll(io.LimitReader(content, maxStatus))
		if err != nil {
			return err
		}
		s.Status, content = status, bytes.NewReader(status)
	}
	return s.add(out, h, name, content)
}

// add writes an entry and its content to out and counts what it will take.
func (s *Content) add(out *tar.Writer, h *tar.Header, name string, content io.Reader) error {
	switch h.Typeflag {
	case tar.TypeDir:
		s.Dirs = append(s.Dirs, name)
		s.blocks++
	case tar.TypeReg, tar.TypeSymlink:
		s.blocks += (h.Size + blockSize - 1) / blockSize
	case tar.TypeLink, tar.TypeChar:
	default:
		return fmt.Errorf("a root file system has no use for an entry of type %q", h.Typeflag)
	}
	s.inodes++
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	if h.Size == 0 {
		return nil
	}
	_, err := io.Copy(out, content)
	return err
}
