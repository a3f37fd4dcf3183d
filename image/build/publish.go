package build

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"aibox/image/cache"
	"aibox/internal/fault"
)

// refuseForeign refuses an output folder that holds anything but an image:
// publish replaces the folder as a whole.
func refuseForeign(out string) error {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.New(fault.Usage, "name another folder with --out", "the image's folder: %w", err)
	}
	for _, entry := range entries {
		switch entry.Name() {
		case kernelFile, diskFile, manifestFile:
		default:
			return fault.New(fault.Refused, "name another folder with --out",
				"%s holds %q, which is no part of an image", out, entry.Name())
		}
	}
	return nil
}

// publish makes out hold the manifest and files, which maps names to paths. A
// reader sees the old image or the new one: the folder is made beside out and
// takes its name at once. It does nothing when out holds these very files.
func publish(out string, manifest []byte, files map[string]string) (err error) {
	if published(out, manifest, files) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(out), ".image-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.RemoveAll(tmp)) }()
	now := time.Now()
	for name, from := range files {
		// Going back to an earlier result must look new to what goes by dates.
		if err := os.Chtimes(from, now, now); err != nil {
			return err
		}
		if err := cache.LinkOrCopy(from, filepath.Join(tmp, name)); err != nil {
			return err
		}
	}
	if err := cache.WriteFile(filepath.Join(tmp, manifestFile), manifest, 0o644); err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(tmp, 0o755), cache.SyncTree(tmp)); err != nil {
		return err
	}
	return replaceDir(tmp, out)
}

// replaceDir gives the folder tmp the name out. Where names cannot be swapped
// at once, out is missing for a moment.
func replaceDir(tmp, out string) error {
	if os.Rename(tmp, out) == nil { // nothing, or an empty folder, was there
		return nil
	}
	if cache.Exchange(tmp, out) == nil {
		return nil
	}
	return errors.Join(os.RemoveAll(out), os.Rename(tmp, out))
}

// published says whether out holds the manifest and files of its sizes. The
// manifest names digests, so that equal ones mean equal files.
func published(out string, manifest []byte, files map[string]string) bool {
	text, err := os.ReadFile(filepath.Join(out, manifestFile))
	if err != nil || !bytes.Equal(text, manifest) {
		return false
	}
	for name, from := range files {
		got, err := os.Stat(filepath.Join(out, name))
		want, failed := os.Stat(from)
		if err != nil || failed != nil || got.Size() != want.Size() {
			return false
		}
	}
	return true
}
