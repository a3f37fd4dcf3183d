package demo

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// sample is the project that Claude Code mends.
//
//go:embed sample
var sample embed.FS

// The bug and its mending. fixedLine takes the place of brokenLine in mendedFile.
const (
	mendedFile = "hours.sh"
	brokenLine = `printf '%d:%d\n' $(($1 / 60)) $(($1 % 60))`
	fixedLine  = `printf '%d:%02d\n' $(($1 / 60)) $(($1 % 60))`
	passedLine = "all tests passed"
	failedLine = "FAIL 65 minutes are 1:5, want 1:05"
)

// sampleFiles returns the sample's files by name.
func sampleFiles() (map[string][]byte, error) {
	entries, err := fs.ReadDir(sample, "sample")
	if err != nil {
		return nil, fmt.Errorf("read the sample project: %w", err)
	}
	files := make(map[string][]byte, len(entries))
	for _, e := range entries {
		b, err := fs.ReadFile(sample, path.Join("sample", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the sample project: %w", err)
		}
		files[e.Name()] = b
	}
	return files, nil
}

// WriteSample writes the sample project into the existing empty folder dir, as
// a git repository with one commit. It starts no program for that.
func WriteSample(dir string) error {
	files, err := sampleFiles()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write the sample project: %w", err)
	}
	defer root.Close()
	for name, b := range files {
		if err := root.WriteFile(name, b, 0o644); err != nil {
			return fmt.Errorf("write the sample project: %w", err)
		}
	}
	if err := writeRepository(root, files); err != nil {
		return fmt.Errorf("write the sample's repository: %w", err)
	}
	return nil
}

// readMended returns the mended file as the VM left it. The VM must be gone:
// nothing may swap the file between the look and the open.
func readMended(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(mendedFile)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s is no plain file of at most %d bytes", mendedFile, maxFile)
	}
	return root.ReadFile(mendedFile)
}
