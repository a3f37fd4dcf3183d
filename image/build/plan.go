package build

import (
	"context"

	"aibox/image/cache"
	"aibox/image/debian"
	"aibox/image/tool"
)

// Names of the steps, which are also names of folders in the cache.
const (
	stepSource   = "source"
	stepKernel   = "kernel"
	stepRootfs   = "rootfs"
	stepClaude   = "claude"
	stepBase     = "base"
	stepInit     = "init"
	stepDisk     = "disk"
	stepTestDisk = "disk-test"
)

// A step makes one result from files of the recipe and results of earlier
// steps. Its key covers both, and revision, which is counted up when the step's
// own code changes what comes out.
type step struct {
	name     string
	about    string
	revision int
	after    []string
	lines    int // how many lines a full run prints, about; 0: unknown
	inputs   func(context.Context, *job, *cache.Key) error
	do       func(context.Context, *job) error
}

// plan lists the steps in order. The test disk is the product's disk and one
// program more, so it has the same base.
func plan(test bool) []step {
	disk := step{name: stepDisk, about: "the root disk", revision: 1,
		after: []string{stepBase, stepInit}, inputs: noInputs, do: makeDisk}
	if test {
		disk.name, disk.about = stepTestDisk, "the root disk for tests"
	}
	return []step{
		{name: stepSource, about: "the kernel's source", revision: 1, inputs: sourceInputs, do: fetchSource},
		{name: stepKernel, about: "the kernel (some minutes)", revision: 1, lines: kernelLines,
			after: []string{stepSource}, inputs: kernelInputs, do: makeKernel},
		{name: stepRootfs, about: "Debian's packages", revision: 1, inputs: rootfsInputs, do: makeRootfs},
		{name: stepClaude, about: "Claude Code", revision: 1, inputs: claudeInputs, do: fetchClaude},
		{name: stepBase, about: "the root file system", revision: 4,
			after: []string{stepRootfs, stepClaude}, inputs: baseInputs, do: makeBase},
		{name: stepInit, about: "the init", revision: 1, inputs: initInputs, do: saveInit},
		disk,
	}
}

func noInputs(context.Context, *job, *cache.Key) error { return nil }

// job is one step at work.
type job struct {
	*Options
	pins  Pins
	tools *tool.Runner
	// binaries is a folder for programs that are built in order to know their
	// content, which is their key.
	binaries string
	results  map[string]string // folders of the steps before
	keys     map[string]string

	// out and scratch are set while do runs.
	out, scratch string
}

func (j *job) mirror() debian.Mirror {
	return debian.Mirror{URI: j.Mirror, Suite: j.pins.Debian.Suite, Tools: j.tools}
}
