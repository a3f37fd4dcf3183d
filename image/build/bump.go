package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aibox/image/cache"
	"aibox/image/tool"
)

// Bump writes the newest versions into pins.json: Claude Code's from npm, the
// kernel's source from the suite, and a new fetch of the suite's packages. It
// builds nothing; the caller reviews the change.
func Bump(ctx context.Context, o Options) (err error) {
	path := o.file("pins.json")
	pins, err := ReadPins(path)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "aibox-bump-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.RemoveAll(scratch)) }()
	log, err := os.Create(filepath.Join(scratch, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	j := &job{Options: &o, pins: pins, scratch: scratch, tools: &tool.Runner{Log: log, OnLine: o.Report.Progress}}
	if err := errors.Join(j.bumpKernel(ctx), j.bumpClaude(ctx)); err != nil {
		if failed := (*tool.Error)(nil); errors.As(err, &failed) {
			failed.Log = "" // it goes with the scratch folder
		}
		return err
	}
	j.pins.Debian.Refresh++
	if err := j.pins.check(); err != nil {
		return fmt.Errorf("the newest versions: %w", err)
	}
	o.Report.Note(fmt.Sprintf("kernel %s, Claude Code %s", j.pins.Kernel.Version, j.pins.Claude.Version))
	return j.pins.write(path)
}

func (j *job) bumpKernel(ctx context.Context) error {
	repository, err := j.mirror().OpenApt(ctx, filepath.Join(j.scratch, "apt"))
	if err != nil {
		return err
	}
	pin := &j.pins.Kernel
	versions, err := repository.Versions(ctx, pin.Package)
	if err != nil || versions[0] == pin.Version {
		return err
	}
	deb, err := repository.Download(ctx, pin.Package, versions[0])
	if err != nil {
		return err
	}
	pin.Version = versions[0]
	pin.SHA256, _, err = cache.DigestOf(deb)
	return err
}

func (j *job) bumpClaude(ctx context.Context) error {
	pin := &j.pins.Claude
	text, err := j.tools.Output(ctx, tool.Command{Dir: j.scratch, Args: []string{
		"npm", "view", "--json", pin.Package, "version", "dist.integrity"}})
	if err != nil {
		return err
	}
	var newest struct {
		Version   string `json:"version"`
		Integrity string `json:"dist.integrity"`
	}
	if err := json.Unmarshal([]byte(text), &newest); err != nil {
		return fmt.Errorf("npm view %s: %w", pin.Package, err)
	}
	pin.Version, pin.Integrity = newest.Version, newest.Integrity
	return nil
}
