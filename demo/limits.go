package demo

import "time"

// Limits on what the VM can make the host hold.
const (
	// maxBody bounds a request of Claude Code; a real one is about 50 KB.
	maxBody = 8 << 20
	// maxMessages bounds a conversation; the script's own has about 15.
	maxMessages = 60
	// maxLine bounds a line of the command's output; longer ones are dropped.
	maxLine = 1 << 20
	// maxFile bounds the sample's file when it is read back.
	maxFile = 64 << 10
	// maxDiffLines bounds the lines compared, since comparing takes n*m steps.
	maxDiffLines = 1000
	// maxShown bounds the text of the VM quoted in one message.
	maxShown = 300
	// maxHosts bounds the hosts listed at the end.
	maxHosts = 50
	// readTimeout bounds a request's arrival.
	readTimeout = 30 * time.Second
	// DefaultTimeout bounds the whole demo, the boot under software emulation on
	// a busy machine included.
	DefaultTimeout = 10 * time.Minute
)
