// Package configcmd holds the commands that show and change a project's config.
package configcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"aibox/internal/cli/console"
	"aibox/internal/cli/exit"
	"aibox/internal/cli/usage"
	"aibox/internal/config"
	"aibox/internal/config/edit"
	"aibox/internal/config/preset"
	"aibox/internal/fault"
	"aibox/internal/hosts"
	"aibox/internal/project"

	"github.com/spf13/cobra"
)

// Configs are the commands' surroundings.
type Configs struct {
	console.Console
	Terminal *os.File  // stdout, for an editor
	Out      io.Writer // stdout, whose errors are kept
	Home     string    // the user's home folder
	// Here names what is kept for the project in the current folder.
	Here func() (project.Kept, error)
	// Refused returns the hosts, as host:port, that the log of a run at the path
	// says were refused.
	Refused func(path string) []string
}

// Command returns "config" with its commands.
func Command(c *Configs) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "config",
		SuggestFor: []string{"allow", "edit", "init", "settings"},
		Short:      "Show and change what the project's VM gets",
		Long: `The config of the project in the current folder lies outside of it, where the VM cannot
change it. A change takes effect at the next run.`,
		Example: "  aibox config allow example.com preset:npm",
	}
	cmd.AddCommand(c.configShow(), c.configPath(), c.configEdit(), c.configAllow(), c.configSuggest())
	return cmd
}

func (c *Configs) configPath() *cobra.Command {
	return &cobra.Command{
		Use:         "path",
		Short:       "Print the config's path",
		Long:        "Prints where the config is, or will be after the first run.",
		Example:     `  less "$(aibox config path)"`,
		Annotations: exit.Notes("the path was printed", fault.Machine, fault.Refused),
		Args:        usage.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			k, err := c.Here()
			if err == nil {
				fmt.Fprintln(c.Out, k.Config())
			}
			return err
		},
	}
}

func (c *Configs) configShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [--json]",
		Short: "Print the settings that hold for the next run",
		Long: `Prints every setting with its value: the config's own, or the default. Presets are
expanded into their hosts. Values of variables that look like secrets are hidden.`,
		Example:     "  aibox config show",
		Annotations: exit.Notes("the settings were printed", fault.Config, fault.Machine, fault.Refused),
		Args:        usage.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			k, err := c.Here()
			if err != nil {
				return err
			}
			s, err := settings(k)
			if err != nil {
				return err
			}
			encode := s.Shown().YAML
			if asJSON {
				encode = s.Shown().JSON
			}
			text, err := encode()
			if err == nil {
				_, _ = c.Out.Write(text) // output keeps its error
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// settings reads the config, or what the first run will write.
func settings(k project.Kept) (config.Settings, error) {
	s, err := config.Load(k.Config())
	if errors.Is(err, fs.ErrNotExist) {
		return config.Parse(k.Config(), config.DefaultText())
	}
	return s, err
}

func (c *Configs) configAllow() *cobra.Command {
	return &cobra.Command{
		Use:   "allow HOST…|preset:NAME…",
		Short: "Add hosts to the allow list",
		Long: `Adds entries at the end of the config's allow list and keeps the rest of the file as it is.
An entry is a host (example.com, port 443), a host with a port (example.com:8443), all
hosts below a domain ("*.example.com"), a preset (preset:npm), a port of this machine
(127.0.0.1:8080), or an address of this machine's networks (192.168.1.20:443).

Presets: ` + presetList(),
		Example: `  aibox config allow example.com '*.example.org'
  aibox config allow preset:pypi`,
		Annotations: exit.Notes("the entries are in the list", fault.Config, fault.Machine, fault.Refused),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var presets []string
			for _, p := range preset.All() {
				presets = append(presets, "preset:"+p.Name+"\t"+p.For)
			}
			return presets, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			entries, err := checkEntries(args)
			if err != nil {
				return err
			}
			k, err := c.created()
			if err != nil {
				return err
			}
			return c.allow(k, entries)
		},
	}
}

func checkEntries(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, fault.New(fault.Usage, "aibox config allow example.com", "no host was named")
	}
	var entries []string
	for _, arg := range args {
		if _, isPreset := preset.Find(arg); isPreset {
			return nil, fault.New(fault.Usage, "write preset:"+arg+"; if a host of yours has that name: "+arg+":443", "%q is the name of a preset", arg)
		}
		entry, err := config.CheckAllow(arg)
		if e := (*hosts.Error)(nil); errors.As(err, &e) {
			return nil, fault.New(fault.Usage, e.Hint, "%w", err)
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// allow adds the entries to the config and tells what was done.
func (c *Configs) allow(k project.Kept, entries []string) error {
	text, err := config.Read(k.Config())
	if err != nil {
		return err
	}
	text, added, err := edit.AddAllow(k.Config(), text, entries)
	if err != nil {
		return err
	}
	if len(added) == 0 {
		c.Note("allowed already: %s", strings.Join(entries, ", "))
		return nil
	}
	if err := config.Write(k.Config(), text); err != nil {
		return err
	}
	when := ""
	if _, running := k.Running(); running {
		when = ", from the next run on"
	}
	c.Note("now allowed: %s%s", strings.Join(added, ", "), when)
	return nil
}

// created is here with the config written if there was none.
func (c *Configs) created() (project.Kept, error) {
	k, err := c.Here()
	if err != nil {
		return k, err
	}
	if err := k.Create(); err != nil {
		return k, err
	}
	_, err = config.WriteDefault(k.Config())
	return k, err
}
