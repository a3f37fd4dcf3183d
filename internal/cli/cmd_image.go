package cli

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"aibox/internal/cli/projectscmd"
	"aibox/internal/fault"
	"aibox/internal/image"
	"aibox/internal/plain"

	"github.com/spf13/cobra"
)

func (a *app) imageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "image",
		Short:   "Show which image the VM boots",
		Long:    "The image is the VM's kernel and its read-only root disk.",
		Example: "  aibox image path",
	}
	cmd.AddCommand(a.imagePath(), a.imageInfo())
	return cmd
}

func (a *app) findImage(dir string) (image.Found, error) {
	place, err := a.place()
	if err != nil {
		return image.Found{}, err
	}
	return image.Locate(image.Search{Flag: dir, Home: place.Root, Build: image.Built()})
}

func (a *app) imagePath() *cobra.Command {
	return &cobra.Command{
		Use:         "path",
		Short:       "Print the folder of the image",
		Long:        "Prints the folder from which the next run boots vmlinuz and os.ext4.",
		Example:     `  ls -lh "$(aibox image path)"`,
		Annotations: exits("the folder was printed", fault.Machine),
		Args:        noArgs,
		RunE: func(*cobra.Command, []string) error {
			found, err := a.findImage("")
			if err == nil {
				fmt.Fprintln(a.out, found.Dir)
			}
			return err
		},
	}
}

func (a *app) imageInfo() *cobra.Command {
	var asJSON bool
	var dir string
	cmd := &cobra.Command{
		Use:   "build-info [--json]",
		Short: "Print what the image was built from",
		Long: `Prints the versions of the kernel, Claude Code and Debian's packages in the image, and the
digests of its files. --json prints all packages.`,
		Example:     "  aibox image build-info --json | jq .claude",
		Annotations: exits("it was printed", fault.Machine),
		Args:        noArgs,
		RunE: func(*cobra.Command, []string) error {
			found, err := a.findImage(dir)
			if err != nil {
				return err
			}
			text, m, err := image.ReadManifest(found.Dir)
			if err != nil {
				return err
			}
			if asJSON {
				_, _ = a.out.Write(text) // output keeps its error
				return nil
			}
			return a.printManifest(found.Dir, m)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the image's manifest")
	cmd.Flags().StringVar(&dir, "image", "", "look at the image in this `folder`")
	return cmd
}

func (a *app) printManifest(dir string, m image.Manifest) error {
	t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	row := func(name, value string) { fmt.Fprintf(t, "%s\t%s\n", name, plain.Line(value)) }
	row("folder", dir)
	row("architecture", m.Arch)
	row("kernel", m.Kernel.Version)
	row("Claude Code", m.Claude.Version)
	row("Debian", fmt.Sprintf("%s, %d packages", m.Suite, len(m.Packages)))
	var names []string
	for name := range m.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		row(name, fmt.Sprintf("%s, sha256:%s", projectscmd.Human(m.Files[name].Size), m.Files[name].SHA256))
	}
	if m.Test {
		row("warning", "this image is for aibox's own tests and gives root in the VM")
	}
	return t.Flush()
}
