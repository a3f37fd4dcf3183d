package build

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"aibox/image/cache"
	"aibox/image/debian"
	"aibox/image/tool"
)

const (
	packagesFile = "rootfs/packages.txt"
	rootfsTar    = "rootfs.tar"
)

func rootfsInputs(_ context.Context, j *job, k *cache.Key) error {
	packages, err := readPackages(j.file(packagesFile))
	if err != nil {
		return err
	}
	k.Text(j.pins.Debian.Suite, fmt.Sprint(j.pins.Debian.Refresh), fmt.Sprint(j.pins.Epoch))
	k.Text(packages...)
	return nil
}

// makeRootfs lets mmdebstrap install the packages and keeps its tar stream,
// which holds owners and modes without this user having to be root. mmdebstrap
// works below TMPDIR, which its user namespace can reach, unlike the cache.
func makeRootfs(ctx context.Context, j *job) (err error) {
	packages, err := readPackages(j.file(packagesFile))
	if err != nil {
		return err
	}
	sources, err := j.mirror().Sources(ctx)
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(j.out, rootfsTar))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return j.tools.Run(ctx, tool.Command{
		Stdout: file,
		Env:    []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", j.pins.Epoch)},
		Args:   debstrapArgs(debian.DebstrapMode(), j.pins.Debian.Suite, packages, sources),
	})
}

func debstrapArgs(mode, suite string, packages, sources []string) []string {
	args := []string{"mmdebstrap", "--mode=" + mode, "--variant=minbase", "--architectures=amd64",
		"--components=main", `--aptopt=APT::Install-Recommends "false"`, `--aptopt=Acquire::Languages "none"`,
		"--include=" + strings.Join(packages, ","), suite, "-"}
	return append(args, sources...)
}

// readPackages reads names of packages, one a line.
func readPackages(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	name := regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]+$`)
	var packages []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !name.MatchString(line) {
			return nil, fmt.Errorf("%s: %q is no package's name", path, line)
		}
		packages = append(packages, line)
	}
	return packages, lines.Err()
}
