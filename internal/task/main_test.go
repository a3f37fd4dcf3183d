package task

import (
	"os"
	"testing"

	"aibox/internal/jail/helper"
)

// TestMain also stands in for aibox where a test starts a helper.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == helper.Command {
		os.Exit(helper.Builtin().Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}
