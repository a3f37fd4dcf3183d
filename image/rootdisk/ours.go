package rootdisk

import (
	"archive/tar"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"
)

// Write writes the whole root file system to w as a tar stream: what stays of
// the stream debian, then ours, which maps names to the files that become them.
// No file is newer than epoch.
func Write(w io.Writer, debian io.Reader, ours map[string]string, epoch int64) (*Content, error) {
	out := tar.NewWriter(w)
	content, err := sift(debian, out, epoch, func(name string) bool { return ours[name] != "" })
	if err != nil {
		return nil, err
	}
	if err := content.addOurs(out, ours, epoch); err != nil {
		return nil, err
	}
	return content, out.Close()
}

// addOurs adds files, the folders that they need and Debian lacks, and the two
// devices that the kernel and init use before init mounts /dev.
func (s *Content) addOurs(out *tar.Writer, ours map[string]string, epoch int64) error {
	made := map[string]bool{}
	for _, dir := range s.Dirs {
		made[dir] = true
	}
	when := time.Unix(epoch, 0)
	header := func(kind byte, name string, mode int64) *tar.Header {
		return &tar.Header{Typeflag: kind, Name: "./" + name, Mode: mode, ModTime: when, Format: tar.FormatGNU}
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		for _, dir := range parents(name) {
			if !made[dir] {
				made[dir] = true
				if err := s.add(out, header(tar.TypeDir, dir, 0o755), dir, nil); err != nil {
					return err
				}
			}
		}
		if err := s.addFile(out, header(tar.TypeReg, name, 0o644), name, ours[name]); err != nil {
			return fmt.Errorf("add %s: %w", name, err)
		}
	}
	// /var is read-only in the guest, and programs want to write to /var/tmp.
	tmp := header(tar.TypeSymlink, varTmp, 0o777)
	tmp.Linkname = "/tmp"
	if err := s.add(out, tmp, varTmp, nil); err != nil {
		return err
	}
	for _, device := range []struct {
		name         string
		mode         int64
		major, minor int64
	}{{"dev/console", 0o600, 5, 1}, {"dev/null", 0o666, 1, 3}} {
		h := header(tar.TypeChar, device.name, device.mode)
		h.Devmajor, h.Devminor = device.major, device.minor
		if err := s.add(out, h, device.name, nil); err != nil {
			return err
		}
	}
	return nil
}

// addFile adds the file at path; whether it may be executed is all that is
// taken from its mode, since a umask may have changed the rest.
func (s *Content) addFile(out *tar.Writer, h *tar.Header, name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	h.Size = info.Size()
	if info.Mode()&0o100 != 0 {
		h.Mode = 0o755
	}
	return s.add(out, h, name, file)
}

// parents lists the folders above name, the outermost first.
func parents(name string) []string {
	var dirs []string
	for i, c := range name {
		if c == '/' {
			dirs = append(dirs, name[:i])
		}
	}
	return dirs
}
