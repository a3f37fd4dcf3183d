package config

import (
	"fmt"

	"aibox/internal/hosts"
)

// Settings is a checked config. The zero value is not a valid one; Parse of an
// empty text gives the defaults.
type Settings struct {
	// Allow holds what the proxy lets through, presets expanded, each once.
	Allow hosts.List

	Memory  int // MiB
	CPUs    int
	DiskGiB int // size of the state disk when it is created

	Mounts []Mount
	// Path holds folders of the VM, and names of host variables that Resolve
	// replaces by their folders.
	Path []string
	Env  []EnvVar
	Git  []Remote

	Shares ShareKind

	IDE       bool
	Clipboard bool

	// The parts of the user's ~/.claude that the VM gets.
	Agents, Commands, Skills, ClaudeMD, Settings bool
}

// ShareKind says what serves the VM's folders.
type ShareKind string

// The kinds. Auto is virtiofs where there is a virtiofsd, else 9p.
const (
	SharesAuto     ShareKind = "auto"
	SharesVirtiofs ShareKind = "virtiofs"
	SharesNineP    ShareKind = "9p"
)

// Mount is a folder of the host that the VM sees read-only.
type Mount struct {
	Host  string // absolute, or "~" or "~/…" until Resolve
	Guest string // absolute and clean
}

func (m Mount) String() string { return m.Host + ":" + m.Guest }

// EnvVar is a variable for the command in the VM.
type EnvVar struct {
	Name, Value string
	// FromHost says that Value is the host's at the start of a run.
	FromHost bool
}

func (e EnvVar) String() string {
	if e.FromHost {
		return e.Name
	}
	return e.Name + "=" + e.Value
}

// Remote is a git repository that the VM may reach with the host's login.
type Remote struct {
	Remote string // host/path, without scheme and ".git"
	Fetch  bool
	Push   []string // patterns of branch names; "*" is any run without "/"
}

// Limits of the numbers in a config and of the flags that override them.
const (
	MinMemory, MaxMemory = 256, 1 << 20 // MiB
	MinCPUs, MaxCPUs     = 1, 64        // the VM's kernel is built for no more
	MinDisk, MaxDisk     = 1, 8192      // GiB
)

// Limits of the lists in a config.
const (
	maxAllow  = 1000
	maxMounts = 64
	maxEnv    = 500
	maxPath   = 100
	maxGit    = 200
)

func defaults() Settings {
	return Settings{
		Memory: 2048, CPUs: 2, DiskGiB: 16,
		Shares:    SharesAuto,
		Clipboard: true,
		Agents:    true, Commands: true, Skills: true, ClaudeMD: true, Settings: true,
	}
}

// CheckMemory says why a number of MiB is no memory size for the VM, nil for
// one that is.
func CheckMemory(mib int) error { return checkRange("memory", mib, MinMemory, MaxMemory, " MiB") }

// CheckCPUs says why a number is no count of CPUs for the VM, nil for one that is.
func CheckCPUs(count int) error { return checkRange("cpus", count, MinCPUs, MaxCPUs, "") }

func checkDisk(gib int) error { return checkRange("disk", gib, MinDisk, MaxDisk, " GiB") }

func checkRange(name string, got, low, high int, unit string) error {
	if got < low || got > high {
		return fmt.Errorf("%s is %d, but must be %d to %d%s", name, got, low, high, unit)
	}
	return nil
}

// NeedsAPIKey tells whether the config names ANTHROPIC_API_KEY, which then
// stays on the host.
func (s Settings) NeedsAPIKey() bool {
	for _, e := range s.Env {
		if e.Name == APIKeyName {
			return true
		}
	}
	return false
}
