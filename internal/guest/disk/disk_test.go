package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// sparse is a disk whose unwritten bytes are zeros.
type sparse struct {
	size   int64
	pieces map[int64][]byte
	writes int
}

func (s *sparse) ReadAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) > s.size {
		return 0, io.EOF
	}
	clear(b)
	for at, p := range s.pieces {
		if from, to := max(at, off), min(at+int64(len(p)), off+int64(len(b))); from < to {
			copy(b[from-off:to-off], p[from-at:])
		}
	}
	return len(b), nil
}

func (s *sparse) WriteAt(b []byte, off int64) (int, error) {
	s.writes++
	s.pieces[off] = bytes.Clone(b)
	return len(b), nil
}

func (s *sparse) Sync() error { return nil }

func newSparse(size int64) *sparse { return &sparse{size: size, pieces: map[int64][]byte{}} }

func super(state uint16) []byte {
	b := make([]byte, superSize)
	binary.LittleEndian.PutUint16(b[superMagicAt:], superMagic)
	binary.LittleEndian.PutUint32(b[superLogBlock:], 2)
	binary.LittleEndian.PutUint16(b[superStateAt:], state)
	return b
}

func TestInspect(t *testing.T) {
	const size = 16 << 30
	for name, c := range map[string]struct {
		at   int64
		data []byte
		want Finding
	}{
		"empty":                 {0, nil, Finding{Verdict: Empty}},
		"clean ext4":            {superOffset, super(1), Finding{Verdict: Ext4}},
		"ext4 with errors":      {superOffset, super(3), Finding{Verdict: Ext4, Damaged: true}},
		"absurd block size":     {superOffset, bytes.Replace(super(1), []byte{2, 0, 0, 0}, []byte{99, 0, 0, 0}, 1), Finding{Verdict: Foreign}},
		"first byte":            {0, []byte{1}, Finding{Verdict: Foreign}},
		"boot sector":           {510, []byte{0x55, 0xaa}, Finding{Verdict: Foreign}},
		"btrfs head":            {64<<10 + 64, []byte("_BHRfS_M"), Finding{Verdict: Foreign}},
		"last byte":             {size - 1, []byte{1}, Finding{Verdict: Foreign}},
		"backup superblock":     {groupSize + 56, []byte{0x53, 0xef}, Finding{Verdict: Foreign}},
		"middle":                {size / 2, []byte{1}, Finding{Verdict: Foreign}},
		"interrupted":           {size - markRoom, []byte(mark), Finding{Verdict: Interrupted}},
		"something like a mark": {size - markRoom, []byte(strings.ToUpper(mark)), Finding{Verdict: Foreign}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newSparse(size)
			if c.data != nil {
				d.pieces[c.at] = c.data
			}
			got, err := Inspect(d, size)
			if err != nil || got != c.want {
				t.Errorf("Inspect = %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestInspectPrefersTheMark(t *testing.T) {
	d := newSparse(1 << 30)
	d.pieces[superOffset] = super(1)
	d.pieces[1<<30-markRoom] = []byte(mark)
	if got, err := Inspect(d, 1<<30); err != nil || got.Verdict != Interrupted {
		t.Errorf("Inspect = %+v, %v, want Interrupted", got, err)
	}
}

func TestInspectRefusesTinyAndTruncated(t *testing.T) {
	if _, err := Inspect(newSparse(4096), 4096); err == nil {
		t.Error("a disk of 4096 bytes was accepted")
	}
	if _, err := Inspect(newSparse(1<<20), 1<<30); err == nil {
		t.Error("a disk shorter than its size was accepted")
	}
}

func TestSamplesStayInside(t *testing.T) {
	for _, size := range []int64{minSize, minSize + 512, 1 << 30, 16<<30 + 512, 4 << 40} {
		var total int64
		for _, s := range samples(size) {
			if s.offset < 0 || s.offset+s.length > size {
				t.Errorf("size %d: sample %+v is outside", size, s)
			}
			total += s.length
		}
		if total > 16<<20 {
			t.Errorf("size %d: %d bytes of samples", size, total)
		}
	}
}

// script answers the tools of a test.
type script struct {
	codes  []int
	mounts []error
	ran    []string
}

func (s *script) tools() Tools {
	return Tools{
		Run: func(_ time.Duration, argv ...string) (int, string, error) {
			s.ran = append(s.ran, strings.Join(argv[:min(len(argv), 3)], " "))
			code := s.codes[0]
			s.codes = s.codes[1:]
			return code, "noise\nlast line\n", nil
		},
		Mount: func() error {
			s.ran = append(s.ran, "mount")
			err := s.mounts[0]
			s.mounts = s.mounts[1:]
			return err
		},
		Log: func(string) {},
	}
}

func TestOpen(t *testing.T) {
	const size = 1 << 30
	broken := errors.New("structure needs cleaning")
	preen, force := "/usr/sbin/e2fsck -f -p", "/usr/sbin/e2fsck -f -y"
	for name, c := range map[string]struct {
		at     int64
		data   []byte
		script script
		fresh  bool
		fails  string
		ran    []string
	}{
		"empty":       {script: script{codes: []int{0}, mounts: []error{nil}}, fresh: true, ran: []string{"/usr/sbin/mke2fs -q -F", "mount"}},
		"interrupted": {at: size - markRoom, data: []byte(mark), script: script{codes: []int{0}, mounts: []error{nil}}, fresh: true, ran: []string{"/usr/sbin/mke2fs -q -F", "mount"}},
		"no room":     {script: script{codes: []int{1}}, fails: "mke2fs: exit status 1: last line", ran: []string{"/usr/sbin/mke2fs -q -F"}},
		"foreign":     {data: []byte("x"), fails: ErrForeign.Error()},
		"clean":       {at: superOffset, data: super(1), script: script{mounts: []error{nil}}, ran: []string{"mount"}},
		"errors":      {at: superOffset, data: super(2), script: script{codes: []int{1}, mounts: []error{nil}}, ran: []string{preen, "mount"}},
		"hard errors": {at: superOffset, data: super(2), script: script{codes: []int{4, 1}, mounts: []error{nil}}, ran: []string{preen, force, "mount"}},
		"no mount":    {at: superOffset, data: super(1), script: script{codes: []int{1}, mounts: []error{broken, nil}}, ran: []string{"mount", preen, "mount"}},
		"hopeless":    {at: superOffset, data: super(1), script: script{codes: []int{4, 8}, mounts: []error{broken}}, fails: "could not repair", ran: []string{"mount", preen, force}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newSparse(size)
			if c.data != nil {
				d.pieces[c.at] = c.data
			}
			fresh, err := Open(d, size, "/dev/vdb", c.script.tools())
			if fresh != c.fresh || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("Open = %v, %v, want %v, %q", fresh, err, c.fresh, c.fails)
			}
			if got := strings.Join(c.script.ran, ", "); got != strings.Join(c.ran, ", ") {
				t.Errorf("ran %s, want %s", got, strings.Join(c.ran, ", "))
			}
			if name == "foreign" && d.writes != 0 {
				t.Errorf("%d writes to a foreign disk", d.writes)
			}
			if marked := string(d.pieces[size-markRoom]) == mark; marked != (name == "no room") {
				t.Errorf("marked = %v after %s", marked, name)
			}
		})
	}
}

func TestScratchHasNoJournal(t *testing.T) {
	for scratch, want := range map[bool]string{true: "^orphan_file,^has_journal", false: "^orphan_file"} {
		args := formatArgs("/dev/vdb", 1<<30, scratch)
		if i := slices.Index(args, "-O"); i < 0 || args[i+1] != want {
			t.Errorf("scratch %v: %q, want -O %s", scratch, args, want)
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add(super(1), uint32(superOffset))
	f.Add([]byte(mark), uint32(minSize-markRoom))
	f.Fuzz(func(t *testing.T, data []byte, at uint32) {
		d := newSparse(minSize)
		d.pieces[int64(at)%minSize] = data
		got, err := Inspect(d, minSize)
		if err != nil {
			t.Fatalf("Inspect: %v", err)
		}
		if got.Verdict == Empty && int64(at) < headSize && bytes.ContainsFunc(data[:min(len(data), headSize-int(min(at, headSize)))], func(r rune) bool { return r != 0 }) {
			t.Errorf("%x at %d was called empty", data, at)
		}
	})
}
