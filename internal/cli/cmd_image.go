package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

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

// maxManifest bounds an image's manifest in bytes.
const maxManifest = 4 << 20

// manifestName is the file beside the kernel that says what is in an image.
const manifestName = "manifest.json"

// manifest is the part of an image's manifest that is printed.
type manifest struct {
	Arch  string `json:"arch"`
	Test  bool   `json:"test"`
	Files map[string]struct {
		SHA256 string `json:"sha256"`
		Size   int64  `json:"size"`
	} `json:"files"`
	Kernel   packageVersion   `json:"kernel"`
	Claude   packageVersion   `json:"claude"`
	Suite    string           `json:"suite"`
	Packages []packageVersion `json:"packages"`
}

type packageVersion struct {
	Name    string `json:"name"`
	Version string `json:"version"`
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
		Annotations: exits("it was printed", fault.Failed, fault.Machine),
		Args:        noArgs,
		RunE: func(*cobra.Command, []string) error {
			found, err := a.findImage(dir)
			if err != nil {
				return err
			}
			text, m, err := readManifest(found.Dir)
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

func readManifest(dir string) (text []byte, m manifest, err error) {
	path := filepath.Join(dir, manifestName)
	fail := func(err error) error {
		return fault.New(fault.Failed, "build the image again: make image", "the image's manifest %q: %w", path, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, m, fail(fs.ErrNotExist)
	case err != nil:
		return nil, m, fail(err)
	case !info.Mode().IsRegular():
		return nil, m, fail(errors.New("is not a file"))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, m, fail(err)
	}
	defer f.Close()
	if text, err = io.ReadAll(io.LimitReader(f, maxManifest)); err != nil {
		return nil, m, fail(err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, m, fail(err)
	}
	return text, m, nil
}

func (a *app) printManifest(dir string, m manifest) error {
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
		row(name, fmt.Sprintf("%s, sha256:%s", human(m.Files[name].Size), m.Files[name].SHA256))
	}
	if m.Test {
		row("warning", "this image is for aibox's own tests and gives root in the VM")
	}
	return t.Flush()
}
