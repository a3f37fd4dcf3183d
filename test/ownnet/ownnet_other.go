//go:build !linux

package ownnet

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
)

// Enter does nothing here.
func Enter() error { return nil }

// Command cannot give a network.
func Command(context.Context, Place, ...string) (*exec.Cmd, error) {
	return nil, errors.New("a network of its own: not yet on " + runtime.GOOS)
}
