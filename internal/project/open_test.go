//go:build unix

package project

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"aibox/internal/fault"
	"aibox/internal/project/treesize"
)

func TestLogs(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	must(t, os.WriteFile(k.ConsoleLog(), []byte("of the last run"), 0o644))
	f, err := k.OpenConsoleLog()
	must(t, err)
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the log has %d bytes, %v, want none", info.Size(), err)
	}
	f.Close()
	f, err = k.OpenProxyLog()
	must(t, err)
	if info, err := f.Stat(); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	f.Close()

	must(t, os.Remove(k.ProxyLog()), os.Symlink(k.Config(), k.ProxyLog()))
	_, err = k.OpenProxyLog()
	refused(t, "link", err, fault.Refused, "must be a file, but is a link")
	must(t, os.Remove(k.ProxyLog()), syscall.Mkfifo(k.ProxyLog(), 0o600))
	_, err = k.OpenProxyLog()
	refused(t, "FIFO", err, fault.Refused, "must be a file, but is a FIFO")
}

func TestStateDisk(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	must(t, os.WriteFile(k.StateDisk()+".new", []byte("of a crash"), 0o600))
	disk, err := k.OpenStateDisk(16)
	must(t, err)
	info, err := os.Lstat(k.StateDisk())
	must(t, err, disk.File.Close())
	if !disk.Created || disk.Size != 16<<30 || info.Size() != 16<<30 || info.Mode() != 0o600 {
		t.Errorf("created %v, size %d, mode %v", disk.Created, info.Size(), info.Mode())
	}
	if got := treesize.Allocated(info); got > maxAllocated {
		t.Errorf("the empty disk takes %d bytes", got)
	}
	disk, err = k.OpenStateDisk(4)
	must(t, err)
	if disk.Created || disk.Size != 16<<30 {
		t.Errorf("again: created %v, size %d, want the old size", disk.Created, disk.Size)
	}
	disk.File.Close()

	for _, size := range []int64{0, 1000, 2<<20 + 1} {
		must(t, os.Truncate(k.StateDisk(), size))
		_, err = k.OpenStateDisk(16)
		refused(t, "wrong size", err, fault.Failed, "is damaged")
	}
	must(t, os.Remove(k.StateDisk()), os.Symlink("/dev/null", k.StateDisk()))
	_, err = k.OpenStateDisk(16)
	refused(t, "link", err, fault.Refused, "must be a file, but is a link")
	if left, _ := filepath.Glob(k.Dir + "/*.new"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestStateDiskTooLarge(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	if _, err := k.OpenStateDisk(1 << 33); err == nil {
		t.Error("8 EiB were created")
	}
	if _, err := os.Lstat(k.StateDisk()); err == nil {
		t.Error("a disk of the wrong size was left behind")
	}
}

func TestOpenHome(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	f, err := k.OpenHome()
	must(t, err, f.Close(), os.Remove(k.Home()), os.Symlink(w.home, k.Home()))
	_, err = k.OpenHome()
	refused(t, "link", err, fault.Refused, "must be a folder, but is a link")
}

func TestKeepErrorNamesTheFullDisk(t *testing.T) {
	err := keepError("write", "/h/.aibox/x", &os.PathError{Op: "write", Path: "/h/.aibox/x", Err: syscall.ENOSPC})
	refused(t, "full disk", err, fault.Machine, `cannot write "/h/.aibox/x": no space left on device`)
	if got := fault.HintOf(err); got != "free some space: df -h /h/.aibox" {
		t.Error(got)
	}
}
