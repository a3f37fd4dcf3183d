package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"aibox/internal/cli/man"
)

const docs = "../../docs"

func TestManualIsUpToDate(t *testing.T) {
	have, err := filepath.Glob(filepath.Join(docs, "man", "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	pages := man.Pages(Commands())
	if len(have) != len(pages) {
		t.Errorf("there are %d pages for %d commands: run `make man`", len(have), len(pages))
	}
	for _, p := range pages {
		if text, err := os.ReadFile(filepath.Join(docs, "man", p.Name)); err != nil || !bytes.Equal(text, []byte(p.Text)) {
			t.Errorf("%s is not what the help says: run `make man`", p.Name)
		}
	}
}

// Each command line of aibox in the documents must be one that aibox takes.
func TestDocumentsNameRealCommands(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range append(files, "../../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range commandLines(string(text)) {
			seen++
			if err := takes(line); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), line, err)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d commands were found in the documents", seen)
	}
}

// commandLines returns the lines of sh blocks, and code within lines, that begin with aibox.
func commandLines(text string) (found []string) {
	code := regexp.MustCompile("`(aibox [a-z-][^`]*)`")
	inSh := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			inSh = line == "```sh"
		case inSh && strings.HasPrefix(line, "aibox "):
			found = append(found, line)
		case !inSh:
			for _, m := range code.FindAllStringSubmatch(line, -1) {
				found = append(found, m[1])
			}
		}
	}
	return found
}

// takes says why aibox would refuse a command line as such.
func takes(line string) error {
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, " > ")
	words := splitWords(line)[1:]
	if strings.HasPrefix(words[0], "internal-") { // copies of aibox, which no user starts
		return nil
	}
	cmd, rest, err := Commands().Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		if strings.HasSuffix(err.Error(), "help requested") { // which cobra handles
			return nil
		}
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// splitWords splits at spaces outside of quotes, and drops the quotes.
func splitWords(line string) (words []string) {
	var word strings.Builder
	quote := rune(0)
	for _, c := range line + " " {
		switch {
		case quote == c:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && c == ' ':
			if word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
		default:
			word.WriteRune(c)
		}
	}
	return words
}
