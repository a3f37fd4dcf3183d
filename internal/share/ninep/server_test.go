package ninep

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aibox/internal/share/ninep/proto"
)

// each runs a test on every kind of folder.
func each(t *testing.T, test func(t *testing.T, s scene)) {
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) { test(t, newScene(t, kind, Options{})) })
	}
}

func TestFiles(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		fid := s.create("work", "new", "hello")
		if got := s.read(fid); got != "hello" {
			t.Errorf("read %q", got)
		}
		s.write(fid, 3, "p!")
		if b, err := os.ReadFile(filepath.Join(s.work, "new")); string(b) != "help!" {
			t.Errorf("the host reads %q, %v", b, err)
		}
		put(t, filepath.Join(s.work, "new"), "a longer text of the host's")
		if got := s.read(fid); got != "a longer text of the host's" {
			t.Errorf("after the host's edit: %q", got)
		}
		s.must(proto.Request{Type: proto.Tsetattr, Fid: fid, Set: proto.SetAttr{Valid: proto.SetSize, Size: 6}})
		if a := s.attr("work/new"); a.Size != 6 || a.Mode != proto.TypeFile|0o644 {
			t.Errorf("attr %+v", a)
		}
		s.must(proto.Request{Type: proto.Tfsync, Fid: fid})
		s.write(fid, 5<<30, "far")
		if a := s.attr("work/new"); a.Size != 5<<30+3 {
			t.Errorf("size %d", a.Size)
		}
		s.clunk(fid)
		again := s.open("work/new", proto.OpenReadWrite|proto.OpenTruncate)
		if got := s.read(again); got != "" {
			t.Errorf("after truncation: %q", got)
		}
		more := s.open("work/new", proto.OpenWrite|proto.OpenAppend)
		s.write(again, 0, "one")
		s.write(more, 0, "two")
		if got := s.read(again); got != "onetwo" {
			t.Errorf("after appending: %q", got)
		}
		s.refused(proto.Request{Type: proto.Tlcreate, Fid: s.walk("work"), Name: "new", Flags: 0o201}, proto.EEXIST)
		over := s.walk("work")
		s.must(proto.Request{Type: proto.Tlcreate, Fid: over, Name: "new"})
		if got := s.read(over); got != "onetwo" {
			t.Errorf("created over a file: %q", got)
		}
	})
}

func TestFolders(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		work := s.walk("work")
		s.must(proto.Request{Type: proto.Tmkdir, Fid: work, Name: "a", Mode: 0o755})
		s.refused(proto.Request{Type: proto.Tmkdir, Fid: work, Name: "a", Mode: 0o755}, proto.EEXIST)
		a := s.walk("work/a")
		var want []string
		for i := range 700 {
			name := fmt.Sprintf("%d-%s", i, strings.Repeat("x", i%200))
			put(t, filepath.Join(s.work, "a", name), "")
			want = append(want, name)
		}
		for _, room := range []uint32{400, 4096, 60000} {
			got := s.list("work/a", room)
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Errorf("with room for %d bytes: %d names, want %d", room, len(got), len(want))
			}
		}
		s.refused(proto.Request{Type: proto.Tunlinkat, Fid: work, Name: "a", Flags: proto.RemoveDir}, proto.ENOTEMPTY)
		s.refused(proto.Request{Type: proto.Tunlinkat, Fid: work, Name: "a"}, proto.EISDIR)
		s.must(proto.Request{Type: proto.Trenameat, Fid: a, Name: want[0], NewFid: work, Other: "moved"})
		s.must(proto.Request{Type: proto.Trenameat, Fid: work, Name: "moved", NewFid: a, Other: want[1]})
		if got := s.list("work/a", 4096); len(got) != 699 {
			t.Errorf("%d names after renaming over one", len(got))
		}
		s.must(proto.Request{Type: proto.Tunlinkat, Fid: a, Name: want[2]})
		s.refused(proto.Request{Type: proto.Tunlinkat, Fid: a, Name: want[2]}, proto.ENOENT)
		s.refused(proto.Request{Type: proto.Tunlinkat, Fid: a, Name: want[3], Flags: proto.RemoveDir}, proto.ENOTDIR)
		if got := s.list("", 4096); !slices.Equal(got, []string{"work", "tools"}) {
			t.Errorf("the root holds %q", got)
		}
	})
}

// A folder that the VM renames keeps its fids working, and so does a file that
// loses its name.
func TestFidsOutliveNames(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		work := s.walk("work")
		s.must(proto.Request{Type: proto.Tmkdir, Fid: work, Name: "a", Mode: 0o755})
		a, f := s.walk("work/a"), s.create("work/a", "f", "text")
		s.must(proto.Request{Type: proto.Trenameat, Fid: work, Name: "a", NewFid: work, Other: "b"})
		s.must(proto.Request{Type: proto.Tmkdir, Fid: a, Name: "sub", Mode: 0o755})
		if _, err := os.Stat(filepath.Join(s.work, "b", "sub")); err != nil {
			t.Error(err)
		}
		s.must(proto.Request{Type: proto.Tunlinkat, Fid: a, Name: "f"})
		s.write(f, 4, "+")
		if got := s.read(f); got != "text+" {
			t.Errorf("a file without a name holds %q", got)
		}
	})
}

func TestReadOnly(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		tools, tool, work := s.walk("tools"), s.walk("tools/tool"), s.walk("work")
		s.create("work", "mine", "x")
		for _, r := range []proto.Request{
			{Type: proto.Tlopen, Fid: tool, Flags: proto.OpenWrite}, {Type: proto.Tlopen, Fid: tool, Flags: proto.OpenReadWrite},
			{Type: proto.Tlopen, Fid: tool, Flags: 3}, {Type: proto.Tlopen, Fid: tool, Flags: proto.OpenTruncate},
			{Type: proto.Tlcreate, Fid: tools, Name: "new", Flags: proto.OpenWrite, Mode: 0o644},
			{Type: proto.Tlcreate, Fid: tools, Name: "tool", Flags: proto.OpenWrite, Mode: 0o644},
			{Type: proto.Tmkdir, Fid: tools, Name: "new"}, {Type: proto.Tsymlink, Fid: tools, Name: "new", Other: "tool"},
			{Type: proto.Tmknod, Fid: tools, Name: "new", Mode: proto.TypeFile}, {Type: proto.Tunlinkat, Fid: tools, Name: "tool"},
			{Type: proto.Tlink, Fid: tools, NewFid: tool, Name: "new"},
			{Type: proto.Trenameat, Fid: tools, Name: "tool", NewFid: tools, Other: "other"},
			{Type: proto.Tsetattr, Fid: tool, Set: proto.SetAttr{Valid: proto.SetMode, Mode: 0o777}},
			{Type: proto.Tsetattr, Fid: tool, Set: proto.SetAttr{Valid: proto.SetMTime}},
			{Type: proto.Tsetattr, Fid: tool, Set: proto.SetAttr{Valid: proto.SetSize}},
		} {
			s.refused(r, proto.EROFS)
		}
		s.refused(proto.Request{Type: proto.Tlink, Fid: work, NewFid: tool, Name: "linked"}, proto.EXDEV)
		s.refused(proto.Request{Type: proto.Trenameat, Fid: work, Name: "mine", NewFid: tools, Other: "mine"}, proto.EXDEV, proto.EROFS)
		s.refused(proto.Request{Type: proto.Trenameat, Fid: tools, Name: "tool", NewFid: work, Other: "mine"}, proto.EROFS)
		s.must(proto.Request{Type: proto.Tlopen, Fid: tool})
		s.refused(proto.Request{Type: proto.Twrite, Fid: tool, Data: []byte("x")}, proto.EROFS)
		if got := s.read(tool); got != "original" {
			t.Errorf("the tool holds %q", got)
		}
		for _, r := range []proto.Request{
			{Type: proto.Tmkdir, Name: "new"}, {Type: proto.Tunlinkat, Name: "work", Flags: proto.RemoveDir},
			{Type: proto.Tlcreate, Name: "new"}, {Type: proto.Trenameat, Name: "work", Other: "new"}, {Type: proto.Tsymlink, Name: "n", Other: "/"},
			{Type: proto.Tsetattr, Set: proto.SetAttr{Valid: proto.SetMode}}, {Type: proto.Trenameat, Fid: work, Name: "mine", Other: "new"},
		} {
			s.refused(r, proto.EROFS)
		}
	})
}

func TestNamesLeadNowhereElse(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		work := s.walk("work")
		s.create("work", "file", "x")
		for _, name := range []string{"", ".", "..", "../outside", "a/b", "/", "/etc", "work\x00", "../../../../../../etc/passwd"} {
			r := s.call(proto.Request{Type: proto.Twalk, Fid: work, NewFid: 77, Names: []string{name}})
			if r.Errno == 0 {
				t.Errorf("walk to %q works", name)
			}
			for _, r := range []proto.Request{
				{Type: proto.Tlcreate, Fid: work, Name: name, Mode: 0o644}, {Type: proto.Tmkdir, Fid: work, Name: name},
				{Type: proto.Tsymlink, Fid: work, Name: name, Other: "x"}, {Type: proto.Tmknod, Fid: work, Name: name, Mode: proto.TypeFile},
				{Type: proto.Tunlinkat, Fid: work, Name: name}, {Type: proto.Tunlinkat, Fid: work, Name: name, Flags: proto.RemoveDir},
				{Type: proto.Trenameat, Fid: work, Name: name, NewFid: work, Other: "x"},
				{Type: proto.Trenameat, Fid: work, Name: "file", NewFid: work, Other: name},
				{Type: proto.Tlink, Fid: work, NewFid: s.walk("work/file"), Name: name},
			} {
				s.refused(r, proto.EINVAL)
			}
			if r := s.call(proto.Request{Type: proto.Twalk, NewFid: 78, Names: []string{name}}); r.Errno == 0 {
				t.Errorf("walk from the root to %q works", name)
			}
		}
		s.refused(proto.Request{Type: proto.Tmkdir, Fid: work, Name: strings.Repeat("n", 256)}, proto.ENAMETOOLONG)
		s.must(proto.Request{Type: proto.Tmkdir, Fid: work, Name: strings.Repeat("n", 255), Mode: 0o755})
		if entries, err := os.ReadDir(s.base); err != nil || len(entries) != 3 {
			t.Errorf("beside the shares: %v, %v", entries, err)
		}
	})
}

func TestRightsAreNotWidened(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		work := s.walk("work")
		file := s.create("work", "file", "x")
		for _, mode := range []uint32{0o4755, 0o2755, 0o6755} {
			s.refused(proto.Request{Type: proto.Tlcreate, Fid: work, Name: "su", Mode: mode, Flags: 1}, proto.EPERM)
			s.refused(proto.Request{Type: proto.Tmknod, Fid: work, Name: "su", Mode: proto.TypeFile | mode}, proto.EPERM)
			s.refused(proto.Request{Type: proto.Tsetattr, Fid: file, Set: proto.SetAttr{Valid: proto.SetMode, Mode: mode}}, proto.EPERM)
		}
		for _, kind := range []uint32{0o020000, 0o060000, 0o010000, 0o140000, proto.TypeDir, proto.TypeSymlink} {
			s.refused(proto.Request{Type: proto.Tmknod, Fid: work, Name: "node", Mode: kind | 0o644, Major: 1, Minor: 3}, proto.EPERM)
		}
		s.refused(proto.Request{Type: proto.Tsetattr, Fid: file, Set: proto.SetAttr{Valid: proto.SetUID, UID: 12345}}, proto.EPERM)
		s.refused(proto.Request{Type: proto.Tsetattr, Fid: file, Set: proto.SetAttr{Valid: proto.SetGID, GID: 12345}}, proto.EPERM)
		s.must(proto.Request{Type: proto.Tsetattr, Fid: file, Set: proto.SetAttr{
			Valid: proto.SetUID | proto.SetGID, UID: uint32(max(os.Getuid(), 0)), GID: uint32(max(os.Getgid(), 0))}})
		s.refused(proto.Request{Type: proto.Tsetattr, Fid: file, Set: proto.SetAttr{Valid: 1 << 20}}, proto.EINVAL)
		s.refused(proto.Request{Type: proto.Txattrwalk, Fid: file, NewFid: 99, Name: "user.x"}, proto.EOPNOTSUPP)
		s.refused(proto.Request{Type: proto.Txattrcreate, Fid: file, Name: "security.capability", Mask: 20}, proto.EOPNOTSUPP)
		if a := s.attr("work/file"); a.Mode != proto.TypeFile|0o644 {
			t.Errorf("the file's mode is %o", a.Mode)
		}
	})
}

func TestTimes(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		fid := s.create("work", "f", "x")
		s.must(proto.Request{Type: proto.Tsetattr, Fid: fid, Set: proto.SetAttr{
			Valid: proto.SetMTime | proto.SetMTimeTo, MTime: proto.Time{Sec: 1000000000, Nsec: 5000}}})
		if a := s.attr("work/f"); a.MTime.Sec != 1000000000 {
			t.Errorf("mtime %+v", a.MTime)
		}
		s.must(proto.Request{Type: proto.Tsetattr, Fid: fid, Set: proto.SetAttr{Valid: proto.SetMTime}})
		if a := s.attr("work/f"); a.MTime.Sec < 1700000000 {
			t.Errorf("mtime %+v, want now", a.MTime)
		}
	})
}

func TestLocksAreTheVMs(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		fid := s.create("work", "f", "")
		if r := s.must(proto.Request{Type: proto.Tlock, Fid: fid, Lock: proto.Lock{Type: 1, Process: 5, Client: "c"}}); r.Status != proto.LockSuccess {
			t.Errorf("lock status %d", r.Status)
		}
		if r := s.must(proto.Request{Type: proto.Tgetlock, Fid: fid, Lock: proto.Lock{Type: 1, Process: 5, Client: "c"}}); r.Lock.Type != proto.LockUnlocked {
			t.Errorf("getlock %+v", r.Lock)
		}
	})
}
