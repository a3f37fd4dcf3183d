package build

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aibox/image/cache"
	"aibox/image/tool"
	"aibox/internal/fault"
)

// claudeFile is the program, in the step's result and in npm's archive below
// "package/".
const claudeFile = "claude"

// elfMagic starts every Linux program.
const elfMagic = "\x7fELF"

func claudeInputs(_ context.Context, j *job, k *cache.Key) error {
	k.Text(j.pins.Claude.Package, j.pins.Claude.Version, j.pins.Claude.Integrity)
	return nil
}

// fetchClaude fetches the pinned package by the machine's npm, so that its
// registry and certificates are used, and checks the digest itself.
func fetchClaude(ctx context.Context, j *job) error {
	pin := j.pins.Claude
	if err := j.tools.Run(ctx, tool.Command{Dir: j.scratch, Args: []string{
		"npm", "pack", "--ignore-scripts", pin.Package + "@" + pin.Version}}); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(j.scratch, "*.tgz"))
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return fmt.Errorf("npm pack left %d archives, not one", len(found))
	}
	integrity, err := integrityOf(found[0])
	if err != nil {
		return err
	}
	if integrity != pin.Integrity {
		return fault.New(fault.Refused, "image/pins.json names the digest that the build expects",
			"%s %s has the digest %s, want %s", pin.Package, pin.Version, integrity, pin.Integrity)
	}
	return extractProgram(found[0], "package/"+claudeFile, filepath.Join(j.out, claudeFile))
}

// integrityOf returns a file's digest as npm writes it.
func integrityOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha512.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return sha512Prefix + base64.StdEncoding.EncodeToString(sum.Sum(nil)), nil
}

// extractProgram writes the plain file name of a gzipped tar to the new file to,
// and refuses one that is no Linux program.
func extractProgram(archive, name, to string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	for entries := tar.NewReader(unzipped); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s holds no %s", archive, name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		if entry.Name != name || entry.Typeflag != tar.TypeReg {
			continue
		}
		if err := cache.Save(to, entries, 0o755); err != nil {
			return err
		}
		return checkELF(to)
	}
}

func checkELF(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	magic := make([]byte, len(elfMagic))
	if _, err := io.ReadFull(file, magic); err != nil || string(magic) != elfMagic {
		return fmt.Errorf("%s is no Linux program", path)
	}
	return nil
}
