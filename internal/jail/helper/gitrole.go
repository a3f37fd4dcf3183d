package helper

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aibox/internal/jail"
)

func prepareGit(folder *os.File, input []byte) (jail.Policy, Work, error) {
	var in gitInput
	if err := json.Unmarshal(input, &in); err != nil {
		return jail.Policy{}, nil, err
	}
	if in.Project {
		if err := folder.Chdir(); err != nil {
			return jail.Policy{}, nil, fmt.Errorf("enter folder: %w", err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		return jail.Policy{}, nil, fmt.Errorf("name folder: %w", err)
	}
	return in.policy(), func(io.Writer) error { return become(in.User.Git, in.args(), in.env(here)) }, nil
}

// policy is without ~/.config/git as a folder: it holds saved passwords.
func (in gitInput) policy() jail.Policy {
	p := jail.Policy{
		ReadFiles:  append(in.User.files(), "/etc/ld.so.cache"),
		WriteFiles: []string{os.DevNull},
		Exec:       gitPrograms(in.User.Git),
	}
	if in.File != "" {
		p.ReadFiles = append(p.ReadFiles, in.File)
	}
	p.ReadFiles = append(p.ReadFiles, in.Read...)
	if in.Project {
		p.ReadDirs = []string{FolderPath}
	}
	return p
}

func (in gitInput) args() []string {
	if in.File != "" {
		return []string{"git", "config", "-z", "--file", in.File, "--no-includes", "--type=path", "--get-regexp", `^include(if\..*)?\.path$`}
	}
	return []string{"git", "config", "-z", "--get-regexp", `^user\.(name|email)$`}
}

// env keeps git from looking for a repository above the folder, where the
// helper may read nothing. Git reads all configuration before it does anything,
// includes too, and gives up on one that it may not read: so it has no
// other configuration while it lists the includes of one file.
func (in gitInput) env(here string) []string {
	env := []string{
		"HOME=" + in.User.Home, "XDG_CONFIG_HOME=" + in.User.xdg(), "PATH=/usr/bin:/bin", "LANG=C", "LC_ALL=C",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(here), "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_OPTIONAL_LOCKS=0",
	}
	if in.File != "" {
		env = append(env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	}
	return env
}
