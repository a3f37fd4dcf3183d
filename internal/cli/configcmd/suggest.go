package configcmd

import (
	"context"
	"fmt"
	"os"
	"strings"

	"aibox/internal/cli/console"
	"aibox/internal/cli/exit"
	"aibox/internal/cli/usage"
	"aibox/internal/config"
	"aibox/internal/config/preset"
	"aibox/internal/config/suggest"
	"aibox/internal/fault"
	"aibox/internal/plain"
	"aibox/internal/project"

	"github.com/spf13/cobra"
)

func (c *Configs) configSuggest() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "suggest [--yes]",
		Short: "Offer the hosts that the project's tools need",
		Long: `Looks at the names of the project's files, such as go.mod or package.json, and offers the
presets they need; where your own tools are configured with another registry, that
host instead. On a terminal it asks for each. Without one it prints what it would add.

It also names the hosts that the last run was refused. The VM chose them, so they are only
ever added one by one: on a terminal, with "no" as the answer of an empty line.`,
		Example:     "  aibox config suggest",
		Annotations: exit.Notes("all was offered", fault.Failed, fault.Config, fault.Machine, fault.Refused),
		Args:        usage.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := c.Here()
			if err != nil {
				return err
			}
			s, err := settings(k)
			if err != nil {
				return err
			}
			offers, err := c.offers(cmd.Context(), k, s)
			if err != nil {
				return err
			}
			refused := suggest.Refused(c.Refused(k.ProxyLog()), s)
			if len(offers)+len(refused) == 0 {
				c.Note("nothing to suggest: the config allows what the project's files speak of")
				return nil
			}
			return c.offer(cmd.Context(), offers, refused, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "add what the project's files need without asking")
	return cmd
}

// AtFirst offers on a terminal what the files of a project without a config need.
// The config is there afterwards, whatever the answers, so that it asks once. It
// is silent where there is nothing to offer or the project cannot be looked at,
// which the run then tells.
func (c *Configs) AtFirst(ctx context.Context) error {
	k, err := c.Here()
	if err != nil || !console.IsTerminal(c.In) {
		return nil
	}
	if _, err := os.Lstat(k.Config()); err == nil {
		return nil
	}
	s, err := settings(k)
	if err != nil {
		return nil
	}
	offers, err := c.offers(ctx, k, s)
	if err != nil || len(offers) == 0 {
		return nil
	}
	c.Note("this project has no config yet; these are the hosts that its files speak of")
	if err := c.offer(ctx, offers, nil, false); err != nil {
		return err
	}
	_, err = c.created()
	return err
}

// offers looks at the project's files.
func (c *Configs) offers(ctx context.Context, k project.Kept, s config.Settings) ([]suggest.Offer, error) {
	root, err := os.OpenRoot(k.Project)
	if err != nil {
		return nil, fault.New(fault.Failed, "", "cannot look at the project: %w", err)
	}
	defer root.Close()
	return suggest.Offers(ctx, root, s, suggest.User{Home: c.Home, Lookup: c.Lookup})
}

// offer asks for each, adds all but what the VM asked for, or prints them.
func (c *Configs) offer(ctx context.Context, offers []suggest.Offer, refused []string, yes bool) error {
	ask := !yes && console.IsTerminal(c.In)
	if !ask && len(refused) > 0 {
		c.Tell("the last run was refused "+strings.Join(refused, ", "), "if you know why it asked: aibox config allow HOST")
	}
	if !yes && !ask {
		for _, o := range offers {
			for _, e := range o.Entries {
				fmt.Fprintln(c.Out, e)
			}
		}
		return nil
	}
	var entries []string
	for _, o := range offers {
		add := yes
		if ask {
			c.describe(o)
			var err error
			if add, err = c.Confirm(ctx, true, "Add it?"); err != nil {
				return err
			}
		}
		if add {
			entries = append(entries, o.Entries...)
		}
	}
	if ask {
		for _, host := range refused {
			fmt.Fprintf(c.Err, "%s was refused in the last run; something in the VM asked for it.\n", host)
			add, err := c.Confirm(ctx, false, "Add it?")
			if err != nil {
				return err
			}
			if add {
				entries = append(entries, host)
			}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	k, err := c.created()
	if err != nil {
		return err
	}
	return c.allow(k, entries)
}

// describe shows on the terminal what an offer opens.
func (c *Configs) describe(o suggest.Offer) {
	p, _ := preset.Find(o.Preset)
	fmt.Fprintf(c.Err, "%s, because of %s:\n", p.For, plain.LineMax(strings.Join(o.Because, ", "), 200))
	for _, e := range o.Entries {
		name, isPreset := strings.CutPrefix(e, "preset:")
		if !isPreset {
			fmt.Fprintf(c.Err, "  %-28s  the registry of your own settings\n", e)
			continue
		}
		fmt.Fprintf(c.Err, "  %s opens\n", e)
		p, _ := preset.Find(name)
		for _, h := range p.Hosts {
			fmt.Fprintf(c.Err, "    %-26s  %s\n", h.Entry, h.Why)
		}
	}
}

// presetList names the presets for the help.
func presetList() string { return strings.Join(preset.Names(), ", ") }
