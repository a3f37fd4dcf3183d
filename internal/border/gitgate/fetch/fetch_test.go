package fetch

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"aibox/internal/border/gitgate/pktline"
)

// request builds packets; "|" is a delimiter and "." a flush.
func request(parts ...string) string {
	var b []byte
	for _, p := range parts {
		switch p {
		case "|":
			b = append(b, "0001"...)
		case ".":
			b = pktline.AppendFlush(b)
		default:
			b = pktline.AppendString(b, p)
		}
	}
	return string(b)
}

func TestRequest(t *testing.T) {
	want := "want " + strings.Repeat("a", 40) + "\n"
	for _, c := range []struct {
		name, in string
		err      error
	}{
		{"ls-refs", request("command=ls-refs\n", "agent=git/2.39.5", "object-format=sha1", "|", "peel\n", "symrefs\n", "ref-prefix HEAD\n", "."), nil},
		{"fetch", request("command=fetch", "|", "thin-pack", want, "done\n", "."), nil},
		{"no arguments", request("command=bundle-uri", "."), nil},
		{"empty packet", request("command=fetch", "", "."), nil},
		{"long", request(append(append([]string{"command=fetch", "|"}, slicesOf(want, 20000)...), ".")...), nil},
		{"nothing", "", ErrRequest},
		{"no flush", request("command=fetch", "|", want), ErrRequest},
		{"cut", request("command=fetch", "|", want)[:30], ErrRequest},
		{"unknown command", request("command=push", "."), ErrRequest},
		{"version 0", request(want, "."), ErrRequest},
		{"two requests", request("command=ls-refs", ".", "command=ls-refs", "."), ErrRequest},
		{"two delimiters", request("command=fetch", "|", "|", "."), ErrRequest},
		{"response end", request("command=fetch") + "0002", ErrRequest},
		{"NUL", request("command=fetch", "|", "want\x00", "."), ErrRequest},
		{"oversized", request("command=fetch") + "ffff" + strings.Repeat("x", 70000), ErrRequest},
		{"bad length", request("command=fetch") + "0003", ErrRequest},
		{"behind the probe", "0000x", ErrRequest},
		{"probe", "0000", ErrFlush},
		{"endless", request("command=fetch") + strings.Repeat(request(strings.Repeat("x", 60000)), 1200), ErrRequest},
	} {
		q, err := Read(strings.NewReader(c.in))
		var got []byte
		if err == nil {
			got, err = io.ReadAll(q)
		}
		if !errors.Is(err, c.err) || c.err == nil && (err != nil || string(got) != c.in) {
			t.Errorf("%s: %d bytes of %d, %v, want %v", c.name, len(got), len(c.in), err, c.err)
		}
	}
}

func slicesOf(s string, n int) (list []string) {
	for range n {
		list = append(list, s)
	}
	return list
}

func TestSourceFails(t *testing.T) {
	broken := errors.New("broken")
	q, err := Read(io.MultiReader(strings.NewReader(request("command=fetch", "|")), failing{broken}))
	if err != nil || q.Command() != "fetch" {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(q); !errors.Is(err, broken) || errors.Is(err, ErrRequest) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// FuzzRequest asks for what is promised: what passes is what came, but for the
// case of the lengths' digits, and is one request.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(request("command=ls-refs\n", "agent=x", "|", "peel\n", ".")))
	f.Add([]byte(request("command=fetch", "|", "done\n", ".", "x")))
	f.Add([]byte("0000"))
	f.Fuzz(func(t *testing.T, in []byte) {
		q, err := Read(bytes.NewReader(in))
		if err != nil {
			if q != nil {
				t.Fatalf("a request with %v", err)
			}
			return
		}
		got, err := io.ReadAll(q)
		if err != nil {
			return
		}
		if !bytes.EqualFold(got, in) || !bytes.HasSuffix(got, []byte("0000")) {
			t.Fatalf("%q became %q", in, got)
		}
	})
}
