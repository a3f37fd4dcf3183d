package helper

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of the user's own configuration.
const (
	maxIncludes   = 32
	maxGitConfig  = 1 << 20 // bytes of one file in which includes are looked for
	systemGitFile = "/etc/gitconfig"
)

func (u GitUser) xdg() string {
	if u.XDGConfig != "" {
		return u.XDGConfig
	}
	return filepath.Join(u.Home, ".config")
}

// files is the user's configuration without what it includes. ~/.config/git as
// a folder is not readable: saved passwords may be in it.
func (u GitUser) files() []string {
	return []string{systemGitFile, filepath.Join(u.xdg(), "git", "config"), filepath.Join(u.Home, ".gitconfig")}
}

// included returns the files that the user's configuration includes, for every
// condition, and those that they include. Which of them count, git decides.
func (u GitUser) included(ctx context.Context) ([]string, error) {
	own := u.files()
	all := slices.Clone(own)
	for i := 0; i < len(all); i++ {
		if !mayInclude(all[i]) {
			continue
		}
		listed, err := runGit(ctx, nil, gitInput{User: u, File: all[i]})
		if err != nil {
			return nil, fmt.Errorf("includes of %s: %w", all[i], err)
		}
		for _, file := range includes(listed, filepath.Dir(all[i])) {
			if len(all) < len(own)+maxIncludes && !slices.Contains(all, file) {
				all = append(all, file)
			}
		}
	}
	return all[len(own):], nil
}

// mayInclude spares most users the helpers.
func mayInclude(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxGitConfig {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && bytes.Contains(bytes.ToLower(text), []byte("include"))
}

// includes reads include settings, "key\nvalue" and a zero byte each, of a
// configuration file in dir and returns the plain files that they name.
func includes(listed []byte, dir string) []string {
	var files []string
	for _, setting := range strings.Split(string(listed), "\x00") {
		_, value, ok := strings.Cut(setting, "\n")
		if !ok || value == "" {
			continue
		}
		if !filepath.IsAbs(value) { // git has put the home in for ~
			value = filepath.Join(dir, value)
		}
		if info, err := os.Stat(value); err == nil && info.Mode().IsRegular() {
			files = append(files, value)
		}
	}
	return files
}
