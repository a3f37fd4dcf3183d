package kconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Policy says what a kernel's final .config must and must not hold.
type Policy struct {
	Wanted    Config
	Forbidden []string
}

// NewPolicy refuses a policy that asks for an option and forbids it.
func NewPolicy(wanted Config, forbidden []string) (Policy, error) {
	for _, name := range forbidden {
		if _, both := wanted[name]; both {
			return Policy{}, fmt.Errorf("%s is both wanted and forbidden", name)
		}
	}
	return Policy{wanted, forbidden}, nil
}

// Fragment is what is put behind the kernel's tiny configuration: the wanted
// options, then the forbidden ones as "not set", each sorted.
func (p Policy) Fragment() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Wanted)) {
		fmt.Fprintf(&b, "%s=%s\n", name, p.Wanted[name])
	}
	for _, name := range p.Forbidden {
		fmt.Fprintf(&b, "# %s is not set\n", name)
	}
	return b.String()
}

// Check returns one line for each option of final that breaks the policy,
// sorted by option. An empty answer means that final keeps it.
func (p Policy) Check(final Config) []string {
	var problems []string
	for name, want := range p.Wanted {
		switch got, set := final[name]; {
		case !set:
			problems = append(problems, fmt.Sprintf("%s: want %s, is not set", name, want))
		case got != want:
			problems = append(problems, fmt.Sprintf("%s: want %s, is %s", name, want, got))
		}
	}
	for _, name := range p.Forbidden {
		if got, set := final[name]; set {
			problems = append(problems, fmt.Sprintf("%s: forbidden, is %s", name, got))
		}
	}
	slices.Sort(problems)
	return problems
}
