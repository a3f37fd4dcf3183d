package gitlogin

import "time"

const (
	// askTime bounds one question to git or ssh: a helper may wait for a
	// keyring that nobody unlocks.
	askTime = 10 * time.Second
	// parallel is how many questions are asked at once.
	parallel = 4

	agentTime   = 5 * time.Second // connecting to the agent and listing its keys
	maxKeyFile  = 1 << 20         // bytes of a file with a key
	maxKeyFiles = 20              // of one server
	maxText     = 300             // bytes of what a program said, in a reason
)
