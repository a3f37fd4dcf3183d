package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// document is Settings in the shape of the file.
type document struct {
	Allow     []string    `yaml:"allow" json:"allow"`
	Memory    int         `yaml:"memory" json:"memory"`
	CPUs      int         `yaml:"cpus" json:"cpus"`
	Disk      int         `yaml:"disk" json:"disk"`
	Mounts    []string    `yaml:"mounts" json:"mounts"`
	Path      []string    `yaml:"path" json:"path"`
	Env       []string    `yaml:"env" json:"env"`
	Git       []remoteDoc `yaml:"git" json:"git"`
	Shares    string      `yaml:"shares" json:"shares"`
	IDE       bool        `yaml:"ide" json:"ide"`
	Clipboard bool        `yaml:"clipboard" json:"clipboard"`
	Agents    bool        `yaml:"agents" json:"agents"`
	Commands  bool        `yaml:"commands" json:"commands"`
	Skills    bool        `yaml:"skills" json:"skills"`
	ClaudeMD  bool        `yaml:"claude-md" json:"claude-md"`
	Settings  bool        `yaml:"settings" json:"settings"`
}

type remoteDoc struct {
	Remote string   `yaml:"remote" json:"remote"`
	Fetch  bool     `yaml:"fetch" json:"fetch"`
	Push   []string `yaml:"push" json:"push"`
}

// YAML returns the settings as a config, so that Parse gives the same settings.
func (s Settings) YAML() ([]byte, error) {
	text, err := yaml.Dump(s.document(), yaml.WithLineWidth(-1), yaml.WithFlowSimpleCollections(false))
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	return text, nil
}

// JSON returns the settings with the names of the file's keys. Keys are only ever added.
func (s Settings) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(s.document(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	return append(text, '\n'), nil
}

func (s Settings) document() document {
	doc := document{
		Allow: texts(s.Allow), Memory: s.Memory, CPUs: s.CPUs, Disk: s.DiskGiB,
		Mounts: texts(s.Mounts), Path: append([]string{}, s.Path...), Env: texts(s.Env), Git: []remoteDoc{},
		Shares: string(s.Shares), IDE: s.IDE, Clipboard: s.Clipboard,
		Agents: s.Agents, Commands: s.Commands, Skills: s.Skills, ClaudeMD: s.ClaudeMD, Settings: s.Settings,
	}
	for _, r := range s.Git {
		doc.Git = append(doc.Git, remoteDoc{r.Remote, r.Fetch, append([]string{}, r.Push...)})
	}
	return doc
}

func texts[T fmt.Stringer](list []T) []string {
	found := []string{}
	for _, v := range list {
		found = append(found, v.String())
	}
	return found
}

// Shown returns the settings for people to read: values of variables whose
// names speak of a secret are replaced, since what is shown gets pasted.
func (s Settings) Shown() Settings {
	s.Env = slices.Clone(s.Env)
	for i, e := range s.Env {
		name := strings.ToUpper(e.Name)
		for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"} {
			if !e.FromHost && strings.Contains(name, word) {
				s.Env[i].Value = "[hidden]"
			}
		}
	}
	return s
}
