package project

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"aibox/internal/fault"
	"aibox/internal/project/treesize"
)

// OpenHome opens the folder that is the VM's home.
func (k Kept) OpenHome() (*os.File, error) {
	info, err := os.Lstat(k.Home())
	if err == nil && !info.IsDir() {
		return nil, fault.New(fault.Refused, "move it away", "%q must be a folder, but is a %s", k.Home(), kindOf(info))
	}
	f, err := os.OpenFile(k.Home(), openFolder|openPlain, 0)
	if err != nil {
		return nil, keepError("open", k.Home(), err)
	}
	return f, nil
}

// OpenConsoleLog opens the console's log, empty, for writing and reading it back.
func (k Kept) OpenConsoleLog() (*os.File, error) { return openLog(k.ConsoleLog()) }

// OpenProxyLog opens the proxy's log, as OpenConsoleLog does.
func (k Kept) OpenProxyLog() (*os.File, error) { return openLog(k.ProxyLog()) }

func openLog(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fault.New(fault.Refused, "move it away: mv "+fault.ShellQuote(path)+" "+fault.ShellQuote(path+".old"),
			"the log %q must be a file, but is a %s", path, kindOf(info))
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_TRUNC|openPlain, 0o600)
	if err != nil {
		return nil, keepError("write", path, err)
	}
	return f, nil
}

// minStateDisk is smaller than any state disk that aibox makes.
const minStateDisk = 1 << 20

// maxAllocated is how much an empty state disk may take on the host's disk.
const maxAllocated = 1 << 20

// StateDisk is the opened state disk.
type StateDisk struct {
	File    *os.File
	Size    int64 // bytes
	Created bool  // by this call, so it is empty
}

// OpenStateDisk opens the state disk for reading and writing. It creates one of
// the given GiB if there is none; one that exists keeps its size. The file is sparse:
// it takes only what the VM has written. The caller holds the run's lock.
func (k Kept) OpenStateDisk(gib int) (StateDisk, error) {
	path := k.StateDisk()
	reset := "aibox projects reset makes a new one and clears the VM's home"
	info, err := os.Lstat(path)
	created := errors.Is(err, fs.ErrNotExist)
	switch {
	case created:
		if err := createSparse(path, int64(gib)<<30); err != nil {
			return StateDisk{}, err
		}
	case err != nil:
		return StateDisk{}, keepError("open the state disk", path, err)
	case !info.Mode().IsRegular():
		return StateDisk{}, fault.New(fault.Refused, reset, "the state disk %q must be a file, but is a %s", path, kindOf(info))
	}
	f, err := os.OpenFile(path, os.O_RDWR|openPlain, 0)
	if err != nil {
		return StateDisk{}, keepError("open the state disk", path, err)
	}
	if info, err = f.Stat(); err == nil && (info.Size() < minStateDisk || info.Size()%512 != 0) {
		err = fault.New(fault.Failed, reset, "the state disk %q is damaged: its size is %d bytes", path, info.Size())
	}
	if err != nil {
		f.Close()
		return StateDisk{}, err
	}
	return StateDisk{File: f, Size: info.Size(), Created: created}, nil
}

// createSparse makes a file of holes that appears with its whole size or not at all.
func createSparse(path string, size int64) error {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return keepError("create the state disk", path, err)
	}
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY|openPlain, 0o600)
	if err != nil {
		return keepError("create the state disk", path, err)
	}
	defer func() { _ = os.Remove(temp) }() // gone already after the rename
	err = f.Truncate(size)
	var info fs.FileInfo
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		info, err = f.Stat()
	}
	err = errors.Join(err, f.Close())
	switch {
	case errors.Is(err, syscall.EFBIG):
		return fault.New(fault.Machine, `set a smaller size in the config, such as "disk: 4"`,
			"the file system of %q cannot hold a file of %d GiB", filepath.Dir(path), size>>30)
	case err != nil:
		return keepError("create the state disk", path, err)
	case treesize.Allocated(info) > maxAllocated:
		return fault.New(fault.Machine, "move ~/.aibox to another file system, such as ext4, and leave a link",
			"the file system of %q cannot hold sparse files", filepath.Dir(path))
	}
	if err := os.Rename(temp, path); err != nil {
		return keepError("create the state disk", path, err)
	}
	return nil
}

// maxPath bounds the text of the file that holds a project's path.
const maxPath = 64 << 10

// readPath returns the path that was noted for the project.
func (k Kept) readPath() (string, error) {
	f, err := os.OpenFile(filepath.Join(k.Dir, pathName), os.O_RDONLY|openPlain, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPath))
	return string(text), err
}
