package wire

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Limits of a control message's JSON in bytes, by direction.
const (
	MaxToGuest = 1 << 20
	MaxToHost  = 64 << 10
)

// ToGuest is a message of the control stream from the host. One field is set.
type ToGuest struct {
	Boot     *Boot     `json:"boot,omitempty"` // first message, once
	Shutdown *Shutdown `json:"shutdown,omitempty"`
}

// ToHost is a message of the control stream from init. One field is set.
type ToHost struct {
	Ready  *Ready  `json:"ready,omitempty"`  // boot is done, ServiceSSH is served
	Failed *Failed `json:"failed,omitempty"` // a step that must work failed; the VM powers off
}

// Boot is all that init needs to know of this run. It holds no secret of the
// user but what the configuration passes on purpose in Env.
type Boot struct {
	Hostname string `json:"hostname"`
	// UnixNano is the host's clock.
	UnixNano int64 `json:"unix_nano"`
	// TimeZone is an IANA name such as "Europe/Berlin"; empty means UTC.
	TimeZone string `json:"time_zone,omitempty"`

	// UID and GID are the host user's and become those of GuestUser.
	UID int `json:"uid"`
	GID int `json:"gid"`

	// Binds are the shares to mount, in order.
	Binds []Bind `json:"binds,omitempty"`
	// NineP tells that the shares come over the port SharePortName instead of the
	// share device.
	NineP bool `json:"nine_p,omitempty"`
	// StateDisk tells whether a second block device holds the state.
	StateDisk bool `json:"state_disk,omitempty"`

	// Env is the session's environment as NAME=value, after init's own.
	Env []string `json:"env,omitempty"`
	// Path are folders in front of the VM's PATH.
	Path []string `json:"path,omitempty"`

	// HostPorts are ports of the host's loopback that init forwards.
	HostPorts []HostPort `json:"host_ports,omitempty"`
	// API tells whether APIPort is served.
	API bool `json:"api,omitempty"`
	// Git holds git's settings in the VM by name, such as "user.name", each
	// passed by GIT_CONFIG_*; GitBroker tells whether GitPort is served.
	Git       []Setting `json:"git,omitempty"`
	GitBroker bool      `json:"git_broker,omitempty"`
	// IDE and Clipboard tell whether IDEPort and ClipboardPort are served.
	IDE       bool `json:"ide,omitempty"`
	Clipboard bool `json:"clipboard,omitempty"`

	// User is copied into the home; nil leaves the home as it is.
	User *UserSetup `json:"user,omitempty"`

	// Task tells that the one session is TaskCommand, with its share at GuestTask.
	Task bool `json:"task,omitempty"`

	// SSHHostKey is this boot's private key in OpenSSH's PEM form and
	// SSHClientKey the one accepted key in authorized_keys form.
	SSHHostKey   string `json:"ssh_host_key"`
	SSHClientKey string `json:"ssh_client_key"`
}

// Bind mounts the folder Share of the share device at Target.
type Bind struct {
	Share    string `json:"share"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"read_only,omitempty"`
	// Optional is left out where Target cannot be made, such as in a home where
	// something else has its name.
	Optional bool `json:"optional,omitempty"`
}

// UserSetup is the user's own set-up of Claude Code. What is empty is removed
// from the home where the user did not change it there.
type UserSetup struct {
	Memory   []byte                     `json:"memory,omitempty"`   // of CLAUDE.md
	Settings map[string]json.RawMessage `json:"settings,omitempty"` // of settings.json
}

// HostPort is a port of the host's loopback. IPv6 selects [::1] over 127.0.0.1.
type HostPort struct {
	Port uint16 `json:"port"`
	IPv6 bool   `json:"ipv6,omitempty"`
}

// Setting is one of git's settings.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Shutdown asks init to end all processes, sync, unmount and power off.
type Shutdown struct{}

// Ready says that the session can start.
type Ready struct {
	// Steps are init's boot steps in order, for --timings.
	Steps []Step `json:"steps,omitempty"`
}

// Step is one boot step and how long it took.
type Step struct {
	Name   string `json:"name"`
	Micros int64  `json:"micros"`
}

// Failed names the boot step that failed and why.
type Failed struct {
	Step   string `json:"step"`
	Reason string `json:"reason"`
}

// WriteMessage sends v as four bytes of big-endian length and JSON.
func WriteMessage(w io.Writer, v any, limit int) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if len(b) > limit {
		return fmt.Errorf("message of %d bytes is over the limit of %d", len(b), limit)
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

// ReadMessage reads one message into v. A length over limit is an error
// before anything is allocated for it.
func ReadMessage(r io.Reader, v any, limit int) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > uint32(limit) {
		return fmt.Errorf("message of %d bytes is over the limit of %d", n, limit)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	return nil
}
