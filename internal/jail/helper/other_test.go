//go:build !linux

package helper

import (
	"context"
	"runtime"
	"strings"
	"testing"
)

func TestNotYet(t *testing.T) {
	_, err := Run(context.Background(), Call{Role: rolePutFile})
	if err == nil || !strings.Contains(err.Error(), "not yet on "+runtime.GOOS) {
		t.Errorf("error %v", err)
	}
}
