package config

import (
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"aibox/internal/fault"
)

// Limits of what is handed to the VM in bytes. maxValue is below what the
// kernel takes as one string of a program's environment; the sum has to fit into the
// boot message, whose limit is 1 MiB, even when JSON escapes some of it.
const (
	maxName   = 200
	maxValue  = 120 << 10
	maxEnvSum = 400 << 10
)

// Host is what Resolve asks of this machine.
type Host struct {
	Home   string                      // the user's home folder, absolute
	Lookup func(string) (string, bool) // os.LookupEnv
}

// Secret is a text that prints and logs as "[secret]".
type Secret string

func (Secret) String() string { return "[secret]" }

// LogValue keeps the text out of logs.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// Resolved is the part of Settings that depends on this machine's environment.
type Resolved struct {
	Mounts []Mount  // with absolute host paths
	Path   []string // absolute folders in the VM, each once
	Env    []EnvVar // with values, without APIKeyName
	// APIKey stays on the host; empty when the config does not name it or
	// this machine has no value.
	APIKey Secret
	// Unset are names that the config passes on but that have no value here.
	Unset []string
}

// Resolve replaces "~/", names of variables and bare names in env by this
// machine's values. A value that cannot be passed on is an error of kind
// fault.Config.
func (s Settings) Resolve(h Host) (Resolved, error) {
	var r Resolved
	for _, m := range s.Mounts {
		if rest, ok := strings.CutPrefix(m.Host, "~"); ok {
			m.Host = filepath.Join(h.Home, rest)
		}
		m.Host = filepath.Clean(m.Host)
		r.Mounts = append(r.Mounts, m)
	}
	r.resolvePath(s.Path, h)
	return r, r.resolveEnv(s.Env, h)
}

func (r *Resolved) resolvePath(entries []string, h Host) {
	add := func(folder string) {
		if isFolder(folder) && utf8.ValidString(folder) && !slices.Contains(r.Path, folder) {
			r.Path = append(r.Path, folder)
		}
	}
	for _, entry := range entries {
		if !isVariable(entry) {
			add(entry)
			continue
		}
		value, ok := h.Lookup(entry)
		if !ok {
			r.Unset = append(r.Unset, entry)
		}
		for _, folder := range filepath.SplitList(value) {
			add(folder)
		}
	}
}

func (r *Resolved) resolveEnv(vars []EnvVar, h Host) error {
	sum := 0
	for _, e := range vars {
		if e.FromHost {
			var set bool
			if e.Value, set = h.Lookup(e.Name); !set || e.Name == APIKeyName && e.Value == "" {
				r.Unset = append(r.Unset, e.Name)
				continue
			}
		}
		e.FromHost = false
		hint := "unset it here, or remove it from env"
		if !utf8.ValidString(e.Value) {
			return fault.New(fault.Config, hint, "env: the value of %s is not UTF-8", e.Name)
		}
		if sum += len(e.Name) + len(e.Value); len(e.Value) > maxValue || sum > maxEnvSum {
			return fault.New(fault.Config, hint, "env: the value of %s is too long, or all values together are", e.Name)
		}
		if e.Name == APIKeyName {
			r.APIKey = Secret(e.Value)
			continue
		}
		r.Env = append(r.Env, e)
	}
	return nil
}
