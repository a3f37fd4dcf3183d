package suggest

import (
	"fmt"
	"testing"

	"aibox/internal/config"

	"github.com/google/go-cmp/cmp"
)

func TestRefused(t *testing.T) {
	s, err := config.Parse("", []byte("allow: [a.example, '*.b.example', 'c.example:8443']"))
	if err != nil {
		t.Fatal(err)
	}
	targets := []string{
		"a.example:443", "x.b.example:443", // allowed, so the reason was another one
		"a.example:80", "b.example:443", "c.example:443", "d.example:443", "d.example:443",
		"127.0.0.1:5432", "[::1]:1", "10.0.0.1:443", "localhost:80", "*.e.example:443", "not a host", "", "f_g.example:443\x1b[2J", "preset:go",
	}
	if diff := cmp.Diff([]string{"a.example:80", "b.example", "c.example", "d.example"}, Refused(targets, s)); diff != "" {
		t.Error(diff)
	}
	targets = nil
	for i := range 100 {
		targets = append(targets, fmt.Sprintf("h%d.example:443", i))
	}
	if got := Refused(targets, s); len(got) != maxRefused {
		t.Errorf("%d hosts are offered", len(got))
	}
}
