package ninep

import (
	"testing"
	"time"

	"aibox/internal/share/ninep/proto"
)

func TestEmptyReadsEnd(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		fid := s.create("work", "cut", "x")
		read := proto.Request{Type: proto.Tread, Fid: fid, Offset: 1, Count: 100}
		tries := 0
		for ; tries < 100*maxEmptyReads; tries++ { // more than one row on a machine that is slow
			if r := s.call(read); r.Type == proto.Rlerror {
				if r.Errno != proto.EIO {
					t.Errorf("error %d", r.Errno)
				}
				break
			}
		}
		if tries < maxEmptyReads || tries == 100*maxEmptyReads {
			t.Errorf("an error after %d reads", tries)
		}
		if got := s.read(fid); got != "x" {
			t.Errorf("later it holds %q", got)
		}
	})
}

func TestEmptyReadsOfPatientPrograms(t *testing.T) {
	start := time.Unix(0, 0)
	for name, c := range map[string]struct {
		step time.Duration // between two reads
		got  func(i int) (offset uint64, got int)
		want bool // an end
	}{
		"without a pause":  {time.Microsecond, func(int) (uint64, int) { return 7, 0 }, true},
		"with pauses":      {2 * readPause, func(int) (uint64, int) { return 7, 0 }, false},
		"elsewhere":        {time.Microsecond, func(i int) (uint64, int) { return uint64(i), 0 }, false},
		"now and then one": {time.Microsecond, func(i int) (uint64, int) { return 7, i % 100 / 99 }, false},
	} {
		var e emptyReads
		ended := false
		for i := range 3 * maxEmptyReads {
			offset, got := c.got(i)
			ended = ended || e.endless(offset, got, start.Add(time.Duration(i)*c.step))
		}
		if ended != c.want {
			t.Errorf("%s: ended %v", name, ended)
		}
	}
}
