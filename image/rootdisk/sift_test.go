package rootdisk

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const epoch = 1_700_000_000

// entry is a tar entry in short.
type entry struct {
	Kind    byte
	Name    string
	Mode    int64
	Content string // or the link's target
}

func stream(t *testing.T, entries ...entry) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Typeflag: e.Kind, Name: "./" + e.Name, Mode: e.Mode, ModTime: time.Unix(epoch+1000, 0), Format: tar.FormatPAX,
			PAXRecords: map[string]string{"SCHILY.xattr.security.capability": "x"}}
		if e.Kind == tar.TypeReg {
			h.Size = int64(len(e.Content))
		} else {
			h.Linkname = e.Content
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.Content[:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func entries(t *testing.T, r io.Reader) []entry {
	t.Helper()
	var all []entry
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.ModTime.After(time.Unix(epoch, 0)) {
			t.Errorf("%s is newer than the epoch", h.Name)
		}
		if len(h.PAXRecords) != 0 {
			t.Errorf("%s keeps attributes: %v", h.Name, h.PAXRecords)
		}
		content, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entry{h.Typeflag, h.Name, h.Mode, string(content) + h.Linkname})
	}
}

func TestWriteDropsRightsAndWhatIsNotNeeded(t *testing.T) {
	const dir, reg, link, hard = tar.TypeDir, tar.TypeReg, tar.TypeSymlink, tar.TypeLink
	debian := stream(t,
		entry{dir, "", 0o755, ""},
		entry{dir, "dev", 0o755, ""},
		entry{tar.TypeChar, "dev/sda", 0o666, ""},
		entry{reg, "usr/bin/su", 0o4755, "su"},
		entry{reg, "usr/bin/ssh-agent", 0o2755, "agent"},
		entry{reg, "usr/bin/newuidmap", 0o4755, "map"},
		entry{hard, "usr/bin/second", 0o755, "./usr/bin/su"},
		entry{link, "bin", 0o777, "usr/bin"},
		entry{dir, "usr/share/doc/git", 0o755, ""},
		entry{reg, "usr/share/doc/git/copyright", 0o644, "licence"},
		entry{reg, "usr/share/doc/git/README", 0o644, "long"},
		entry{reg, "etc/apt/sources.list.d/mirror.list", 0o644, "private"},
		entry{reg, "etc/resolv.conf", 0o644, "host's"},
		entry{reg, dpkgStatus, 0o644, "Package: git\n"},
	)
	ours := filepath.Join(t.TempDir(), "resolv")
	if err := os.WriteFile(ours, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(program, []byte("ELF"), 0o700); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	content, err := Write(&out, debian, map[string]string{"etc/resolv.conf": ours, Claude: program}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	want := []entry{
		{dir, "./", 0o755, ""},
		{dir, "./dev", 0o755, ""},
		{reg, "./usr/bin/su", 0o755, "su"},
		{reg, "./usr/bin/ssh-agent", 0o755, "agent"},
		{reg, "./usr/bin/newuidmap", 0o4755, "map"},
		{hard, "./usr/bin/second", 0o755, "./usr/bin/su"},
		{link, "./bin", 0o777, "usr/bin"},
		{dir, "./usr/share/doc/git", 0o755, ""},
		{reg, "./usr/share/doc/git/copyright", 0o644, "licence"},
		{reg, "./" + dpkgStatus, 0o644, "Package: git\n"},
		{dir, "./etc", 0o755, ""},
		{reg, "./etc/resolv.conf", 0o644, ""},
		{dir, "./usr", 0o755, ""},
		{dir, "./usr/lib", 0o755, ""},
		{dir, "./usr/lib/aibox", 0o755, ""},
		{reg, "./usr/lib/aibox/claude", 0o755, "ELF"},
		{link, "./var/tmp", 0o777, "/tmp"},
		{tar.TypeChar, "./dev/console", 0o600, ""},
		{tar.TypeChar, "./dev/null", 0o666, ""},
	}
	if diff := cmp.Diff(want, entries(t, &out)); diff != "" {
		t.Errorf("root file system (-want +got):\n%s", diff)
	}
	if string(content.Status) != "Package: git\n" || content.inodes != int64(len(want)) {
		t.Errorf("status %q, %d inodes; want the package list and %d", content.Status, content.inodes, len(want))
	}
}

func TestWriteRefuses(t *testing.T) {
	status := entry{tar.TypeReg, dpkgStatus, 0o644, "Package: git\n"}
	for name, c := range map[string]struct {
		want   string
		debian *bytes.Buffer
	}{
		"a second name of what is dropped": {"usr/bin/x is a second name of dev/x", stream(t, status,
			entry{tar.TypeReg, "dev/x", 0o644, ""}, entry{tar.TypeLink, "usr/bin/x", 0o644, "dev/x"})},
		"a pipe":          {"no use for an entry of type", stream(t, status, entry{tar.TypeFifo, "usr/pipe", 0o644, ""})},
		"no package list": {"has no " + dpkgStatus, stream(t)},
		"a cut stream":    {"unexpected EOF", bytes.NewBuffer(stream(t, status).Bytes()[:3*512+5])},
	} {
		content, err := Write(io.Discard, c.debian, nil, epoch)
		if err == nil || !strings.Contains(err.Error(), c.want) || content != nil {
			t.Errorf("%s: %v, %v; want an error with %q", name, content, err, c.want)
		}
	}
}
