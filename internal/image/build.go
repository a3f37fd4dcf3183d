package image

// Set at build time by the linker, -ldflags "-X aibox/internal/image.version=…",
// and never after: that is why they are variables. A build from a checkout has none.
var (
	version        string
	kernelDigest   string
	rootDiskDigest string
)

// Digests are the SHA-256 of an image's files in lower-case hexadecimal. An
// empty one is not checked.
type Digests struct{ Kernel, RootDisk string }

// Build says what this binary was built as.
type Build struct {
	Version string // empty for a build from a checkout
	Digests Digests
}

// Built returns what the linker put into this binary.
func Built() Build {
	return Build{Version: version, Digests: Digests{Kernel: kernelDigest, RootDisk: rootDiskDigest}}
}

// Release tells whether the binary is a release: it has a version.
func (b Build) Release() bool { return b.Version != "" }
