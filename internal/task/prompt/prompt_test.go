package prompt

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/internal/fault"
)

func TestRead(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "project")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"project/plan.md": "the plan\n", "project/sub/x": "in sub", "secret": "SECRET", "project/latin": "caf\xe9",
		"project/zero": "a\x00b", "project/space": " \n", "project/full": strings.Repeat("x", MaxBytes),
		"project/over": strings.Repeat("x", MaxBytes+1),
	} {
		if err := os.WriteFile(filepath.Join(base, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": "../secret", "in": "sub/x", "up": "..", "abs": filepath.Join(base, "secret"), "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skipf("cannot make links: %v", err)
		}
	}
	for name, c := range map[string]struct {
		source Source
		want   string // the prompt, or
		err    string // a part of the error
	}{
		"words":              {Source{Args: []string{"do", "this"}}, "do this", ""},
		"words and file":     {Source{Args: []string{"do"}, File: "plan.md"}, "do\n\nthe plan\n", ""},
		"file":               {Source{File: "sub/x"}, "in sub", ""},
		"clean way":          {Source{File: "./sub/../plan.md"}, "the plan\n", ""},
		"absolute":           {Source{File: filepath.Join(dir, "plan.md")}, "the plan\n", ""},
		"absolute elsewhere": {Source{File: filepath.Join(base, "secret")}, "SECRET", ""},
		"link inside":        {Source{File: "in"}, "in sub", ""},
		"stdin":              {Source{Stdin: strings.NewReader("piped")}, "piped", ""},
		"dash":               {Source{Args: []string{"do"}, File: "-", Stdin: strings.NewReader("piped")}, "do\n\npiped", ""},
		"stdin is unused":    {Source{Args: []string{"do"}, Stdin: strings.NewReader("piped")}, "do", ""},
		"largest":            {Source{File: "full"}, strings.Repeat("x", MaxBytes), ""},

		"nothing":             {Source{Terminal: true}, "", "is empty"},
		"empty stdin":         {Source{Stdin: strings.NewReader("\n")}, "", "is empty"},
		"blank file":          {Source{File: "space"}, "", "is empty"},
		"too long":            {Source{File: "over"}, "", "over the limit"},
		"too long together":   {Source{Args: []string{"x"}, File: "full"}, "", "over the limit"},
		"too long stdin":      {Source{Stdin: io.LimitReader(zeros{}, 10<<20)}, "", "over the limit"},
		"not UTF-8":           {Source{File: "latin"}, "", "not UTF-8"},
		"zero byte":           {Source{File: "zero"}, "", "zero byte"},
		"missing":             {Source{File: "none"}, "", `cannot use the prompt file "none"`},
		"folder":              {Source{File: "sub"}, "", "not a plain file"},
		"above":               {Source{File: "../secret"}, "", "outside of the current folder"},
		"link out":            {Source{File: "out"}, "", "outside of the current folder"},
		"link to the folder":  {Source{File: "up/secret"}, "", "outside of the current folder"},
		"absolute link":       {Source{File: "abs"}, "", "outside of the current folder"},
		"loop":                {Source{File: "loop"}, "", "cannot use"},
		"absolute path, link": {Source{File: filepath.Join(dir, "in")}, "", "it is a link"},
	} {
		t.Run(name, func(t *testing.T) {
			c.source.Dir = dir
			got, err := Read(t.Context(), c.source)
			if c.err == "" {
				if err != nil || got != c.want {
					t.Errorf("prompt %.100q, %v", got, err)
				}
				return
			}
			if err == nil || got != "" || !strings.Contains(err.Error(), c.err) || fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
				t.Errorf("prompt %.100q, error %v (kind %d, hint %q), want %q", got, err, fault.KindOf(err), fault.HintOf(err), c.err)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestReadingStdinEndsWithTheContext(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Read(ctx, Source{Stdin: r, Dir: t.TempDir()}); err == nil {
		t.Error("no error")
	}
}
