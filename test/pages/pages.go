// Package pages follows the documents as a new user does: it types each command
// of their "sh" blocks into a shell on a terminal, page by page and in order, and
// answers what is asked. What cannot be typed where a test runs is in one list,
// rules, with the reason.
package pages

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Command is one command line of a page.
type Command struct {
	Page string // README.md, or the name of a file in docs
	Line int
	Text string // as it stands there, the comment included
}

func (c Command) String() string { return fmt.Sprintf("%s:%d: %s", c.Page, c.Line, c.Text) }

// bare is the command without its comment.
func (c Command) bare() string {
	text, _, _ := strings.Cut(c.Text, " #")
	return strings.TrimSpace(text)
}

// Read returns the pages of the repository at root that have commands, with the
// commands in order.
func Read(root string) (map[string][]Command, error) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	pages := map[string][]Command{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		commands, err := commandsOf(filepath.Base(file), string(text))
		if err != nil {
			return nil, err
		}
		if len(commands) > 0 {
			pages[filepath.Base(file)] = commands
		}
	}
	if len(pages) == 0 {
		return nil, errors.New("there are no pages")
	}
	return pages, nil
}

// commandsOf reads the lines of a page's "sh" blocks. A block that is neither one
// nor a config is what a program prints, so that no command hides in another kind.
func commandsOf(page, text string) (commands []Command, err error) {
	looksTyped := regexp.MustCompile(`^(aibox [a-z]|\$ |sudo |make )`)
	number, block := 0, ""
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```") && block == "":
			block = line
		case strings.HasPrefix(line, "```"):
			block = ""
		case block == "```sh" && line != "":
			commands = append(commands, Command{Page: page, Line: number, Text: line})
		case block != "" && block != "```" && block != "```yaml" && block != "```sh":
			return nil, fmt.Errorf("%s:%d: a block %q: name it sh, yaml or nothing", page, number, block)
		case block == "```" && looksTyped.MatchString(line):
			return nil, fmt.Errorf("%s:%d: a command outside of an sh block: %s", page, number, line)
		}
	}
	return commands, nil
}

// Config returns the YAML blocks of the repository's pages, which are configs, by
// the place where they begin.
func Config(root string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	blocks := map[string]string{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		parts := strings.Split(string(text), "```yaml\n")
		for i, part := range parts[1:] {
			block, _, _ := strings.Cut(part, "```")
			blocks[fmt.Sprintf("%s, block %d", filepath.Base(file), i+1)] = block
		}
	}
	return blocks, nil
}
