package debian

import (
	"context"
	"path/filepath"

	"aibox/image/tool"
)

// Fetch unpacks the newest version of each package into the folder root,
// without installing it. The folder scratch, which must exist, is left with
// what was fetched.
func (m Mirror) Fetch(ctx context.Context, scratch, root string, packages []string) error {
	repository, err := m.OpenApt(ctx, filepath.Join(scratch, "apt"))
	if err != nil {
		return err
	}
	for _, name := range packages {
		versions, err := repository.Versions(ctx, name)
		if err != nil {
			return err
		}
		deb, err := repository.Download(ctx, name, versions[0])
		if err != nil {
			return err
		}
		if err := m.Tools.Run(ctx, tool.Command{Args: []string{"dpkg-deb", "--extract", deb, root}}); err != nil {
			return err
		}
	}
	return nil
}
