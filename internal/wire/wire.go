// Package wire holds every name, number and message that the host and the VM
// share: ports, service names, share names, the link's first bytes, and the
// control messages. Host code and guest code meet only here, so this package
// imports nothing but the standard library. docs/protocol.md is its prose.
package wire

// Version is the protocol's version. Host and guest must be equal; an image
// and an aibox of different versions refuse each other in the first bytes.
const Version = 1

// PortName is the name of the virtio serial port that carries the link.
const PortName = "aibox.link"

// ShareTag is the virtio-fs tag of the one device that carries all shares.
const ShareTag = "aibox"

// SharePortName is the name of the virtio serial port that carries 9P2000.L to
// the host's file server, where there is no share device.
const SharePortName = "aibox.shares"

// ShareMessage is the longest message in bytes on that port.
const ShareMessage = 256<<10 + 24

// Names of the folders below the share device's root. Read-only mounts follow
// as "m0", "m1", ….
const (
	ShareProject = "project"
	ShareHome    = "home"
)

// Paths in the VM.
const (
	GuestProject = "/project"
	GuestHome    = "/home/user"
	GuestUser    = "user"
)

// Ports on the VM's loopback that init serves. The range 3128 to 3132 is taken
// and can be no listed port of the host's loopback.
const (
	ProxyPort     = 3128 // HTTP proxy: CONNECT and absolute-form requests
	APIPort       = 3129 // Claude API with the key kept on the host
	GitPort       = 3130 // git broker
	IDEPort       = 3131 // IDE bridge
	ClipboardPort = 3132 // clipboard image

	FirstTakenPort = ProxyPort
	LastTakenPort  = ClipboardPort
)

// Services that the guest opens on the host.
const (
	ServiceControl   = "control" // first stream of a boot; see control.go
	ServiceProxy     = "proxy"
	ServiceAPI       = "api"
	ServiceGit       = "git"
	ServiceIDE       = "ide"
	ServiceClipboard = "clipboard"

	// What Claude Code prints in a task, once each; see task.go.
	ServiceTranscript = "transcript"
	ServiceClaudeLog  = "claudelog"
)

// ServiceSSH is the one service that the host opens in the guest.
const ServiceSSH = "ssh"

// FailPrefix starts the one line that init prints on the console when a boot
// step that must work failed, or when it powers off without being asked to:
// prefix, step, ": ", reason.
const FailPrefix = "aibox-init: "

// APIKeyPlaceholder is the VM's ANTHROPIC_API_KEY where the key stays on the
// host. Nothing accepts it.
const APIKeyPlaceholder = "aibox-keeps-the-key-on-the-host"
