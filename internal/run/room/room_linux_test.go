package room

import (
	"os"
	"strings"
	"testing"

	"aibox/internal/fault"
)

func TestRoomLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Close() {
		t.Error("an ordinary disk is said to be full")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &Probe{file: full, text: make([]byte, least)}
	err = failed("/a b", p.try())
	if fault.KindOf(err) != fault.Machine || !strings.Contains(err.Error(), `"/a b": no space left`) || fault.HintOf(err) != "free some space: df -h '/a b'" {
		t.Errorf("%v, hint %q", err, fault.HintOf(err))
	}
	if _, err := Open("/nonexistent"); fault.KindOf(err) != fault.Machine {
		t.Errorf("a folder that is not there: %v", err)
	}
}
