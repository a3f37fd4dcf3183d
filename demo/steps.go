package demo

// Step is one thing the demo shows. The order is the order of the script.
type Step int

// The steps.
const (
	Started Step = iota
	KeyKept
	TestFailed
	Read
	Edited
	TestPassed
	HostReached
	HostRefused
	Ended

	stepCount int = iota
)

// witness is who saw a step. A step counts only when all its witnesses did.
type witness uint8

const (
	byClaude witness = 1 << iota // the output of Claude Code
	byAPI                        // the scripted API, from what Claude Code sent it
	byPage                       // the page's server on the host
	byRun                        // what aibox itself knows at the end
)

// stepInfo is what there is to say about a step.
type stepInfo struct {
	done string  // what happened, for the user
	hint string  // what to look at when it did not
	by   witness // who has to see it
}

// info returns what there is to say about s.
func (s Step) info() stepInfo {
	const tryShell = "run `aibox run --shell` in a folder and try `claude --version` there"
	return [stepCount]stepInfo{
		Started:    {"Claude Code started in the VM", tryShell, byClaude},
		KeyKept:    {"the API got the key that only the host holds", "the key forwarder does not answer in the VM: look at the console and the log of this run", byAPI},
		TestFailed: {"ran the sample's test, which fails as it should", "the VM runs no commands or does not see the project: " + tryShell, byClaude | byAPI},
		Read:       {"read " + mendedFile, "the project is not visible in the VM: look at the console of this run for virtiofs", byClaude | byAPI},
		Edited:     {"edited " + mendedFile, "the project is not writable from the VM: check the folder's owner and free space", byClaude | byAPI | byRun},
		TestPassed: {"ran the sample's test, which passes now", "the edit is not seen by programs of the VM: look at the console of this run for virtiofs", byClaude | byAPI},
		HostReached: {"reached the allowed host", "the VM does not reach a listed port of the host's loopback: look at proxy.log of this run, and for a firewall on the loopback",
			byClaude | byAPI | byPage | byRun},
		HostRefused: {"was refused the host that is not allowed", "the proxy did not refuse a host that is not listed: do not use this build, and report it", byClaude | byAPI | byRun},
		Ended:       {"Claude Code ended", "Claude Code did not end by itself: look at its message above", byClaude | byAPI | byRun},
	}[s]
}

// String says what happened in the step.
func (s Step) String() string { return s.info().done }
