package console

import (
	"testing"

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
