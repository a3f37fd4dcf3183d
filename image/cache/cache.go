// Package cache keeps the results of a build's steps under the hash of all that
// decided them. A result appears under its name only when it is complete and on
// disk, so an interrupt or a full disk leaves nothing that passes for whole.
package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	// keepResults is how many results of one step stay in the cache: the
	// newest, and one more for going back and forth between two branches.
	keepResults = 2

	// lockPoll is how often a build that waits for another one looks again;
	// the operating system offers no wait that a context could end.
	lockPoll = 200 * time.Millisecond

	tmpPrefix = "tmp-"
)

// Cache is a folder of results, each a folder "<step>-<key>". A folder with
// such a name is complete. One build holds the cache's lock at a time, so what
// carries tmpPrefix when a build starts was left by one that died.
type Cache struct {
	dir  string
	lock *flock.Flock
}

// Open makes and locks the cache in dir; waiting is called once when
// another build holds it. Close releases it.
func Open(ctx context.Context, dir string, waiting func()) (*Cache, error) {
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o700); err != nil {
		return nil, fmt.Errorf("make the build cache: %w", err)
	}
	c := &Cache{dir, flock.New(filepath.Join(dir, "lock"))}
	locked, err := c.lock.TryLock()
	if err == nil && !locked {
		waiting()
		_, err = c.lock.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the build cache %s: %w", dir, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, tmpPrefix+"*"))
	if err == nil {
		err = RemoveAll(left...)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("clear what an earlier build left: %w", err), c.Close())
	}
	return c, nil
}

// Close releases the lock.
func (c *Cache) Close() error { return c.lock.Unlock() }

// Scratch makes a folder that is dropped by the next build at the latest.
func (c *Cache) Scratch() (string, error) { return os.MkdirTemp(c.dir, tmpPrefix) }

// Log is the path of the full output of a step's last run.
func (c *Cache) Log(step string) string { return filepath.Join(c.dir, "logs", step+".log") }

// Find returns the folder of a result and whether it exists, and notes its use.
func (c *Cache) Find(step, key string) (string, bool) {
	dir := filepath.Join(c.dir, step+"-"+key)
	if _, err := os.Stat(dir); err != nil {
		return dir, false
	}
	now := time.Now()
	// Only the order in which old results go depends on this.
	_ = os.Chtimes(dir, now, now)
	return dir, true
}

// Add lets fill write a result below out, with a scratch folder that is
// dropped, and gives it its name when fill succeeded and the bytes are on disk.
func (c *Cache) Add(step, key string, fill func(out, scratch string) error) (err error) {
	tmp, err := os.MkdirTemp(c.dir, tmpPrefix+step+"-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, RemoveAll(tmp)) }()
	out, scratch := filepath.Join(tmp, "out"), filepath.Join(tmp, "scratch")
	for _, dir := range []string{out, scratch} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := fill(out, scratch); err != nil {
		return err
	}
	if err := SyncTree(out); err != nil {
		return err
	}
	return os.Rename(out, filepath.Join(c.dir, step+"-"+key))
}

// Prune drops all but the newest results of each of the steps.
func (c *Cache) Prune(steps []string) error {
	for _, step := range steps {
		dirs, err := filepath.Glob(filepath.Join(c.dir, step+"-"+strings.Repeat("[0-9a-f]", keyLength)))
		if err != nil {
			return err
		}
		slices.SortFunc(dirs, func(a, b string) int { return modTime(b).Compare(modTime(a)) })
		if len(dirs) > keepResults {
			if err := RemoveAll(dirs[keepResults:]...); err != nil {
				return fmt.Errorf("drop old results: %w", err)
			}
		}
	}
	return nil
}

func modTime(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// RemoveAll is os.RemoveAll for trees with folders that their owner may not
// write, which an unpacked root file system has.
func RemoveAll(paths ...string) error {
	var errs []error
	for _, path := range paths {
		if os.RemoveAll(path) == nil {
			continue
		}
		// A failure here shows again below.
		_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
			if entry != nil && entry.IsDir() && err == nil {
				return os.Chmod(path, 0o700)
			}
			return nil
		})
		errs = append(errs, os.RemoveAll(path))
	}
	return errors.Join(errs...)
}
