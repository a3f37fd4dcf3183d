//go:build vm

package vm

import (
	"fmt"
	"os"
	"testing"

	"aibox/test/ownnet"
)

// Programs and images under test, from the environment (scripts/vm-test.sh).
type environment struct {
	aibox     string // the program
	image     string // folder of the product's image
	testImage string // the same with a program that becomes root
	virtiofsd string // virtiofsd's bundle, where the machine has no package
	fscase    string // the program that asks a folder how it behaves
}

func readEnvironment() environment {
	return environment{
		aibox:     os.Getenv("AIBOX_BIN"),
		image:     os.Getenv("AIBOX_IMAGE"),
		testImage: os.Getenv("AIBOX_TEST_IMAGE"),
		virtiofsd: os.Getenv("AIBOX_VIRTIOFSD"),
		fscase:    os.Getenv("AIBOX_FSCASE"),
	}
}

func TestMain(m *testing.M) {
	if os.Getpid() == 1 {
		guestInit()
	}
	if err := ownnet.Enter(); err != nil {
		fmt.Fprintln(os.Stderr, "test/vm:", err)
		os.Exit(1)
	}
	env := readEnvironment()
	if env.aibox == "" || env.image == "" || env.testImage == "" || os.Geteuid() == 0 {
		fmt.Fprintln(os.Stderr, "test/vm: run these by `make vm-test`, which sets AIBOX_BIN, AIBOX_IMAGE and AIBOX_TEST_IMAGE and uses an ordinary user")
		os.Exit(1)
	}
	os.Exit(m.Run())
}
