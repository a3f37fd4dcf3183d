package setup

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// maxFile bounds what is read of the home, in bytes; a bigger file is left alone.
const maxFile = 16 << 20

// read returns a file of the home. What is no plain file, or is too big, is nil
// without an error; a missing file's error wraps fs.ErrNotExist.
func read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, nil
	}
	// Another VM may share the home and swap files: opening a pipe must not wait for
	// a writer, who may never come.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err == nil && text == nil {
		text = []byte{}
	}
	return text, err
}

// replace puts a file of uid and gid in the place of what has the name.
func replace(root *os.Root, name string, text []byte, uid, gid int) error {
	temp := name + ".aibox"
	_ = root.Remove(temp)
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.Chown(uid, gid); err != nil && os.Geteuid() == 0 {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return root.Rename(temp, name)
}
