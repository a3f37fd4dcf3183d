package cli

import (
	"aibox/internal/doctor"
	"aibox/internal/fault"
	"aibox/internal/image"
)

// notRoot refuses to work as root: files would become root's, and a mistake in
// what faces the VM would cost the whole machine.
func (a *app) notRoot() error {
	if a.machine.uid == 0 {
		return fault.New(fault.Refused, "start it as yourself, without sudo", "aibox does not run as root")
	}
	return nil
}

// oldKernelFlag goes on with a kernel on which aibox cannot be locked down.
// Package jail names it too, for its hints.
const oldKernelFlag = "allow-old-kernel"

// kernelIsNew refuses a kernel on which aibox cannot be locked down.
func (a *app) kernelIsNew() error { return doctor.OldKernel(a.machine.kernel) }

// imageIsThere refuses a task without an image before its folder is made. What is
// wrong with an image that is there shows when it is opened.
func (a *app) imageIsThere(dir string) error {
	place, err := a.place()
	if err != nil {
		return err
	}
	_, err = a.machine.locate(image.Search{Flag: dir, Home: place.Root, Build: image.Built()})
	return err
}
