package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/plain"

	"github.com/creack/pty"
)

func TestColourIsForTerminals(t *testing.T) {
	control, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	defer terminal.Close()
	c := Console{Err: terminal}
	for _, test := range []struct {
		name, value, want string
	}{
		{"", "", "\x1b[1maibox:\x1b[0m text\r\n\x1b[1mhint:\x1b[0m do\r\n"},
		{"NO_COLOR", "1", "aibox: text\r\nhint: do\r\n"},
		{"TERM", "dumb", "aibox: text\r\nhint: do\r\n"},
	} {
		c.Lookup = func(name string) (string, bool) { return test.value, name == test.name }
		c.Tell("text", "do")
		got := make([]byte, 200)
		n := 0
		for n < len(test.want) {
			m, err := control.Read(got[n:])
			if err != nil {
				t.Fatal(err)
			}
			n += m
		}
		if string(got[:n]) != test.want {
			t.Errorf("%s=%s: %q, want %q", test.name, test.value, got[:n], test.want)
		}
	}
}

func TestLongTextsKeepTheirEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "err")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := Console{Err: f, Lookup: func(string) (string, bool) { return "", false }}
	c.Tell("the folder "+strings.Repeat("\u00fc", 4000)+" is gone", "rm "+strings.Repeat("x", plain.MaxLine-3))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(string(text), "\n")
	if len(first) > plain.MaxLine+len("aibox: ") || !strings.HasPrefix(first, "aibox: the folder \u00fc") || !strings.HasSuffix(first, "\u00fc is gone") || strings.Contains(first, "\ufffd") {
		t.Errorf("the line is %d bytes: %q", len(first), first)
	}
	if want := "hint: rm " + strings.Repeat("x", plain.MaxLine-3) + "\n"; second != want {
		t.Errorf("the hint is %q", second)
	}
}
