// Package rootdisk says what the guest's root disk holds: which of Debian's
// files stay and with which rights, which files are aibox's, and the audit of
// the finished disk. It is pure but for reading the files that it is given; the
// build runs the programs whose arguments it makes.
package rootdisk

// Names from the root of the disk.
const (
	Init       = "usr/sbin/aibox-init"
	Claude     = "usr/lib/aibox/claude"
	RunPrompt  = "usr/share/aibox/run-prompt.md"
	TaskPrompt = "usr/share/aibox/task-prompt.md"
	TestDir    = "usr/lib/aibox-test" // in the test image only
	TestRoot   = TestDir + "/root"    // gives root

	varTmp = "var/tmp"
)

// Names of the programs in the folder in which debugfs runs InstallScript.
const (
	InitProgram     = "aibox-init"
	TestRootProgram = "root"
)
