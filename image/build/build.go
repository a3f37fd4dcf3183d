package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"aibox/image/cache"
	"aibox/image/tool"
	"aibox/internal/fault"
)

// Options says what to build and where.
type Options struct {
	Root   string // the checkout
	Cache  string // folder of results, made when missing
	Out    string // folder of the image, made when missing
	Test   bool   // the image for tests, which has a program that gives root
	Init   string // use this file as init; empty: build it from the checkout
	Mirror string // of Debian; empty: the machine's own
	Locked bool   // fail when the mirror has dropped the pinned kernel source
	Report Reporter
}

// Reporter is told how far the build is. Calls come from one goroutine but
// Progress, which may come from another while a step is at work.
type Reporter interface {
	Begin(step string, number, of, lines int)
	Progress() // a program of the step printed a line
	End(step string, took time.Duration, err error)
	Note(text string)
}

// Run brings the image in Out up to date and returns Out's absolute path. It
// does nothing that an earlier run did with the same inputs. On an error or an
// interrupt Out is what it was.
func Run(ctx context.Context, o Options) (string, error) {
	path, err := o.run(ctx)
	if errors.Is(err, syscall.ENOSPC) && fault.HintOf(err) == "" {
		err = fault.New(fault.Machine, "free some space, or set XDG_CACHE_HOME to a larger disk", "%w", err)
	}
	return path, err
}

func (o *Options) run(ctx context.Context) (path string, err error) {
	if err := checkMachine(); err != nil {
		return "", err
	}
	out, err := filepath.Abs(o.Out)
	if err != nil {
		return "", err
	}
	if err := refuseForeign(out); err != nil {
		return "", err
	}
	pins, err := ReadPins(o.file("pins.json"))
	if err != nil {
		return "", err
	}
	results, err := cache.Open(ctx, o.Cache, func() { o.Report.Note("waiting for another build of the image") })
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, results.Close()) }()
	binaries, err := results.Scratch()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, cache.RemoveAll(binaries)) }()
	j := &job{Options: o, pins: pins, binaries: binaries, results: map[string]string{}, keys: map[string]string{}}
	steps := plan(o.Test)
	names := make([]string, 0, len(steps))
	for i, s := range steps {
		names = append(names, s.name)
		if err := j.step(ctx, results, s, i+1, len(steps)); err != nil {
			return "", fmt.Errorf("build %s: %w", s.about, err)
		}
	}
	if err := j.publish(out); err != nil {
		return "", fmt.Errorf("put the image into %s: %w", out, err)
	}
	return out, results.Prune(names)
}

// step makes sure that the result of s is in the cache.
func (j *job) step(ctx context.Context, c *cache.Cache, s step, number, of int) (err error) {
	log, err := os.Create(filepath.Join(j.binaries, s.name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	j.tools = &tool.Runner{Log: log, OnLine: j.Report.Progress}
	k := cache.NewKey(s.name, s.revision)
	for _, before := range s.after {
		k.Text(j.keys[before])
	}
	err = s.inputs(ctx, j, k)
	dir, found := c.Find(s.name, k.String())
	j.keys[s.name], j.results[s.name] = k.String(), dir
	if err != nil || found {
		return keepLog(log, c.Log(s.name), err)
	}
	started := time.Now()
	j.Report.Begin(s.about, number, of, s.lines)
	err = c.Add(s.name, k.String(), func(out, scratch string) error {
		j.out, j.scratch = out, scratch
		return s.do(ctx, j)
	})
	err = keepLog(log, c.Log(s.name), err)
	j.Report.End(s.about, time.Since(started), err)
	return err
}

// keepLog moves a failed step's log to where it stays, and says so in err.
func keepLog(log *os.File, path string, err error) error {
	if err == nil {
		return nil
	}
	if renamed := os.Rename(log.Name(), path); renamed != nil {
		return errors.Join(err, renamed)
	}
	if failed := (*tool.Error)(nil); errors.As(err, &failed) {
		failed.Log = path
	}
	return err
}

// file is the path of a file of the recipe.
func (o *Options) file(name string) string {
	return filepath.Join(o.Root, "image", filepath.FromSlash(name))
}
