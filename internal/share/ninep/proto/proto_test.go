package proto

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func requests() []Request {
	return []Request{
		{Type: Tversion, Tag: NoTag, Count: 8192, Name: Version},
		{Type: Tauth, Fid: 1, Other: "user", Name: "", UID: 5},
		{Type: Tattach, Tag: 1, Fid: 1, NewFid: NoFid, Other: "user", Name: "a", UID: 1000},
		{Type: Tflush, Tag: 2, OldTag: 1},
		{Type: Twalk, Tag: 3, Fid: 1, NewFid: 2, Names: []string{"a", "", "\xff"}},
		{Type: Twalk, Tag: 3, Fid: 1, NewFid: 2},
		{Type: Tclunk, Fid: 9}, {Type: Tremove, Fid: 9}, {Type: Treadlink, Fid: 9}, {Type: Tstatfs, Fid: 9},
		{Type: Tlopen, Fid: 9, Flags: OpenReadWrite | OpenTruncate},
		{Type: Tlcreate, Fid: 9, Name: "n", Flags: 1, Mode: 0o644, GID: 7},
		{Type: Tread, Fid: 9, Offset: 1 << 40, Count: 10}, {Type: Treaddir, Fid: 9, Offset: 3, Count: 4},
		{Type: Twrite, Fid: 9, Offset: 1, Data: []byte("data")},
		{Type: Tfsync, Fid: 9, Flags: 1},
		{Type: Tgetattr, Fid: 9, Mask: AttrBasic},
		{Type: Tsetattr, Fid: 9, Set: SetAttr{Valid: 511, Mode: 1, UID: 2, GID: 3, Size: 4, ATime: Time{5, 6}, MTime: Time{7, 8}}},
		{Type: Tsymlink, Fid: 9, Name: "l", Other: "../../etc", GID: 1},
		{Type: Tmknod, Fid: 9, Name: "d", Mode: 1, Major: 2, Minor: 3, GID: 4},
		{Type: Tmkdir, Fid: 9, Name: "d", Mode: 1, GID: 4},
		{Type: Tlink, Fid: 9, NewFid: 8, Name: "d"}, {Type: Trename, Fid: 9, NewFid: 8, Name: "d"},
		{Type: Trenameat, Fid: 9, Name: "a", NewFid: 8, Other: "b"},
		{Type: Tunlinkat, Fid: 9, Name: "a", Flags: RemoveDir},
		{Type: Txattrwalk, Fid: 9, NewFid: 8, Name: "user.x"}, {Type: Txattrcreate, Fid: 9, Name: "user.x", Mask: 3, Flags: 1},
		{Type: Tlock, Fid: 9, Flags: 1, Lock: Lock{1, 2, 3, 4, "c"}},
		{Type: Tgetlock, Fid: 9, Lock: Lock{1, 2, 3, 4, "c"}},
	}
}

func responses() []Response {
	return []Response{
		{Type: Rlerror, Tag: 1, Errno: ENOENT}, {Type: Tversion + 1, Tag: NoTag, Count: 8192, Name: Version},
		{Type: Tattach + 1, Qid: Qid{QidDir, 1, 2}}, {Type: Twalk + 1, Qids: []Qid{{1, 2, 3}, {4, 5, 6}}},
		{Type: Tlopen + 1, Qid: Qid{1, 2, 3}, Count: 4}, {Type: Tread + 1, Data: []byte("abc")},
		{Type: Twrite + 1, Count: 5}, {Type: Treadlink + 1, Name: "target"},
		{Type: Tgetattr + 1, Attr: Attr{Valid: 1, Qid: Qid{1, 2, 3}, Mode: 4, Size: 5, CTime: Time{6, 7}, DataVers: 8}},
		{Type: Tstatfs + 1, StatFS: StatFS{1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{Type: Tlock + 1, Status: 1}, {Type: Tgetlock + 1, Lock: Lock{1, 2, 3, 4, "c"}}, {Type: Tclunk + 1},
	}
}

func TestRequestsComeBack(t *testing.T) {
	for _, want := range requests() {
		b, ok := want.Append([]byte("before"))
		var got Request
		if !ok || !ParseRequest(b[len("before"):], &got) {
			t.Errorf("type %d is not read again", want.Type)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("type %d: %s", want.Type, diff)
		}
	}
}

func TestResponsesComeBack(t *testing.T) {
	for _, want := range responses() {
		b, ok := want.Append(nil)
		var got Response
		if !ok || !ParseResponse(b, &got) {
			t.Errorf("type %d is not read again", want.Type)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("type %d: %s", want.Type, diff)
		}
	}
}

func TestEveryCutAndEveryByteMoreIsRefused(t *testing.T) {
	for _, r := range requests() {
		whole, _ := r.Append(nil)
		for cut := range whole {
			b := bytes.Clone(whole[:cut])
			if cut >= 4 {
				b[0], b[1], b[2], b[3] = byte(cut), 0, 0, 0
			}
			if ParseRequest(b, &Request{}) {
				t.Errorf("type %d is read from %d of %d bytes", r.Type, cut, len(whole))
			}
		}
		longer := append(bytes.Clone(whole), 0)
		longer[0]++
		if ParseRequest(longer, &Request{}) {
			t.Errorf("type %d is read with a byte left over", r.Type)
		}
	}
}

func TestWhatIsTooMuch(t *testing.T) {
	many := Request{Type: Twalk, Names: make([]string, MaxWalk+1)}
	if b, ok := many.Append(nil); ok || ParseRequest(b, &Request{}) {
		t.Error("17 names pass")
	}
	long := Request{Type: Tmkdir, Name: string(make([]byte, 1<<16))}
	if _, ok := long.Append(nil); ok {
		t.Error("a name of 64 KiB passes")
	}
	if ParseRequest([]byte{7, 0, 0, 0, 255, 0, 0}, &Request{}) {
		t.Error("an unknown type passes")
	}
}

// What is read and written again is the same, and no length that a message only
// claims is believed.
func FuzzRequest(f *testing.F) {
	for _, r := range requests() {
		b, _ := r.Append(nil)
		f.Add(b)
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, Twrite, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Request
		if !ParseRequest(b, &r) {
			return
		}
		again, ok := r.Append(nil)
		if !ok || !bytes.Equal(again, b) {
			t.Errorf("%x is written as %x, %v", b, again, ok)
		}
	})
}

func FuzzResponse(f *testing.F) {
	for _, r := range responses() {
		b, _ := r.Append(nil)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Response
		if !ParseResponse(b, &r) {
			return
		}
		if again, ok := r.Append(nil); !ok || !bytes.Equal(again, b) {
			t.Errorf("%x is written as %x, %v", b, again, ok)
		}
	})
}
