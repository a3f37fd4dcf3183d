package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"aibox/internal/config"
	"aibox/internal/config/preset"
	"aibox/internal/config/suggest"
	"aibox/internal/fault"
	"aibox/internal/plain"
	"aibox/internal/project"

	"github.com/spf13/cobra"
)

func (a *app) configSuggest() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "suggest [--yes]",
		Short: "Offer the hosts that the project's tools need",
		Long: `Looks at the names of the project's files, such as go.mod or package.json, and offers the
presets they need; where your own tools are configured with another registry, that
host instead. On a terminal it asks for each. Without one it prints what it would add.`,
		Example:     "  aibox config suggest",
		Annotations: exits("all was offered", fault.Failed, fault.Config, fault.Machine, fault.Refused),
		Args:        noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := a.here()
			if err != nil {
				return err
			}
			offers, err := a.offers(cmd.Context(), k)
			if err != nil {
				return err
			}
			return a.offer(cmd.Context(), offers, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "add everything without asking")
	return cmd
}

// offer is what one preset would add.
type offer struct {
	suggest.Finding
	entries []string
}

// offers leaves out what the config allows already.
func (a *app) offers(ctx context.Context, k project.Kept) ([]offer, error) {
	s, err := settings(k)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(k.Project)
	if err != nil {
		return nil, fault.New(fault.Failed, "", "cannot look at the project: %w", err)
	}
	defer root.Close()
	found, err := suggest.Detect(ctx, root)
	if err != nil {
		return nil, err
	}
	user := suggest.User{Home: a.machine.home, Lookup: a.machine.lookup}
	var offers []offer
	for _, f := range found {
		o := offer{Finding: f}
		for _, e := range user.Entries(f.Preset) {
			if !allows(s, e) {
				o.entries = append(o.entries, e)
			}
		}
		if len(o.entries) > 0 {
			offers = append(offers, o)
		}
	}
	return offers, nil
}

// allows tells whether the settings hold all that an entry would add.
func allows(s config.Settings, entry string) bool {
	extra, err := config.Parse("", []byte("allow: ['"+entry+"']"))
	if err != nil {
		return false
	}
	for _, e := range extra.Allow {
		if !slices.Contains(s.Allow, e) {
			return false
		}
	}
	return true
}

// offer asks for each, adds all, or prints them.
func (a *app) offer(ctx context.Context, offers []offer, yes bool) error {
	if len(offers) == 0 {
		a.note("nothing to suggest: the config allows what the project's files speak of")
		return nil
	}
	if !yes && !isTerminal(a.std.In) {
		for _, o := range offers {
			for _, e := range o.entries {
				fmt.Fprintln(a.out, e)
			}
		}
		return nil
	}
	var entries []string
	for _, o := range offers {
		add := yes
		if !yes {
			a.describe(o)
			var err error
			if add, err = a.confirm(ctx, true, "Add it?"); err != nil {
				return err
			}
		}
		if add {
			entries = append(entries, o.entries...)
		}
	}
	if len(entries) == 0 {
		return nil
	}
	k, err := a.created()
	if err != nil {
		return err
	}
	return a.allow(k, entries)
}

// describe shows on the terminal what an offer opens.
func (a *app) describe(o offer) {
	p, _ := preset.Find(o.Preset)
	fmt.Fprintf(a.std.Err, "%s, because of %s:\n", p.For, plain.LineMax(strings.Join(o.Because, ", "), 200))
	for _, e := range o.entries {
		name, isPreset := strings.CutPrefix(e, "preset:")
		if !isPreset {
			fmt.Fprintf(a.std.Err, "  %-28s  the registry of your own settings\n", e)
			continue
		}
		fmt.Fprintf(a.std.Err, "  %s opens\n", e)
		p, _ := preset.Find(name)
		for _, h := range p.Hosts {
			fmt.Fprintf(a.std.Err, "    %-26s  %s\n", h.Entry, h.Why)
		}
	}
}

// presetList names the presets for the help.
func presetList() string { return strings.Join(preset.Names(), ", ") }
