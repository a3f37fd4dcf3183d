package push

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"aibox/internal/border/gitgate/pktline"
)

var (
	zeros = strings.Repeat("0", 40)
	a     = strings.Repeat("a", 40)
	b     = strings.Repeat("b", 40)
)

const caps = "\x00 report-status-v2 side-band-64k object-format=sha1 agent=git/2.39.5"

// body builds a request of lines, with a flush at the end.
func body(lines ...string) string {
	var out []byte
	for _, l := range lines {
		out = pktline.AppendString(out, l)
	}
	return string(pktline.AppendFlush(out))
}

func update(ref string) string { return a + " " + b + " " + ref }

func TestReadKeepsThePack(t *testing.T) {
	r := strings.NewReader(body(update("refs/heads/x")+caps, zeros+" "+b+" refs/heads/y") + "PACK....")
	req, err := Read(r)
	if err != nil || len(req.Commands) != 2 || req.Refusal != "" {
		t.Fatalf("%+v, %v", req, err)
	}
	if rest, _ := io.ReadAll(r); string(rest) != "PACK...." {
		t.Errorf("the pack is %q", rest)
	}
	want := body(a+" "+b+" refs/heads/x\x00 report-status-v2 side-band-64k object-format=sha1 agent=git/aibox", zeros+" "+b+" refs/heads/y")
	if got := string(req.Encode()); got != want {
		t.Errorf("encoded %q, want %q", got, want)
	}
}

func TestReadRefuses(t *testing.T) {
	many := []string{update("refs/heads/x") + caps}
	for i := range 1000 {
		many = append(many, update(fmt.Sprint("refs/heads/x", i)))
	}
	cert := []string{"push-cert" + caps, "certificate version 0.1\n", "pusher me\n", "\n", update("refs/heads/x") + "\n", "-----BEGIN PGP SIGNATURE-----\n", "push-cert-end\n"}
	for name, c := range map[string]struct{ in, want string }{
		"shallow":      {body("shallow "+a, "shallow "+b+"\n", update("refs/heads/x")+caps), "shallow clone"},
		"signed":       {body(cert...), "signed push"},
		"options":      {body(update("refs/heads/x")+caps+" push-options") + body("o=1"), "push options"},
		"too many":     {body(many...), "more than 256"},
		"sha256 by id": {body(strings.Repeat("a", 64) + " " + strings.Repeat("b", 64) + " refs/heads/x" + "\x00report-status object-format=sha256"), ""},
	} {
		req, err := Read(strings.NewReader(c.in))
		if err != nil || !strings.Contains(req.Refusal, c.want) || c.want == "" && req.Refusal != "" {
			t.Errorf("%s: %q, %v", name, req.Refusal, err)
			continue
		}
		if len(req.Commands) == 0 || len(req.Commands) > MaxCommands {
			t.Errorf("%s: %d commands", name, len(req.Commands))
		}
		if _, pass := DecideAll(req, Policy{Push: []string{"*"}}); pass != (c.want == "") {
			t.Errorf("%s: passes: %t", name, pass)
		}
	}
}

func TestReadFails(t *testing.T) {
	x := update("refs/heads/x")
	for name, in := range map[string]string{
		"nothing":               "",
		"cut":                   body(x + caps)[:40],
		"no flush":              strings.TrimSuffix(body(x+caps), "0000"),
		"oversized":             "ffff" + strings.Repeat("x", 70000),
		"delimiter":             strings.TrimSuffix(body(x+caps), "0000") + "00010000",
		"response end":          "0002",
		"empty packet":          body(x+caps, ""),
		"no capabilities":       body(x),
		"late capabilities":     body(x+caps, update("refs/heads/y")+caps),
		"two lists":             body(x + caps + "\x00push-options"),
		"NUL in the ref":        body(update("refs/heads/\x00x") + caps),
		"line end in the ref":   body(x + "\nrefs/heads/y" + caps),
		"tab":                   body(strings.Replace(x, " ", "\t", 1) + caps),
		"two spaces":            body(strings.Replace(x, " ", "  ", 1) + caps),
		"short id":              body("abc " + b + " refs/heads/x" + caps),
		"upper id":              body(strings.ToUpper(a) + " " + b + " refs/heads/x" + caps),
		"sha256 ids":            body(strings.Repeat("a", 64) + " " + strings.Repeat("b", 64) + " refs/heads/x" + caps),
		"unknown format":        body(x + "\x00report-status object-format=md5"),
		"one ref twice":         body(x+caps, x),
		"shallow after command": body(x+caps, "shallow "+a),
		"shallow alone":         body("shallow " + a),
		"certificate later":     body(x+caps, "push-cert"),
		"long ref":              body(update("refs/heads/"+strings.Repeat("x", 2000)) + caps),
		"endless":               strings.Repeat(body("shallow " + a)[:52], 1<<17),
	} {
		req, err := Read(strings.NewReader(in))
		if err == nil || errors.Is(err, ErrFlush) || len(req.Commands) != 0 || req.Refusal != "" {
			t.Errorf("%s: %+v, %v", name, req, err)
		}
	}
	if _, err := Read(strings.NewReader("0000")); !errors.Is(err, ErrFlush) {
		t.Errorf("the probe: %v", err)
	}
}

func TestDecide(t *testing.T) {
	p := Policy{"git.example.com/me/app", []string{"main", "x", "claude/*", "v*-fix"}}
	for _, c := range []struct {
		cmd  Command
		want string // a part of the reason
	}{
		{Command{a, b, "refs/heads/main"}, ""},
		{Command{zeros, b, "refs/heads/main"}, ""},
		{Command{zeros, b, "refs/heads/claude/fix-1"}, ""},
		{Command{zeros, b, "refs/heads/v1.2-fix"}, ""},
		{Command{zeros, b, "refs/heads/claude/a/b"}, `push: ["main", "x", "claude/*", "v*-fix", "claude/a/b"]`},
		{Command{a, b, "refs/heads/x/y"}, "at remote: git.example.com/me/app,"},
		{Command{a, b, "refs/heads/mainz"}, "not listed"},
		{Command{a, b, "refs/heads/MAIN"}, "not listed"},
		{Command{a, zeros, "refs/heads/main"}, "no branch is deleted"},
		{Command{zeros, zeros, "refs/heads/main"}, "neither"},
		{Command{zeros, b, "refs/tags/main"}, "tags"},
		{Command{a, b, "refs/heads/claude/.."}, "not a valid"},
		{Command{a, b, "refs/heads/claude/../main"}, "not a valid"},
		{Command{a, b, "refs/heads/claude/x.lock"}, "not a valid"},
		{Command{a, b, "refs/heads/claude/"}, "not a valid"},
		{Command{a, b, "refs/heads/"}, "not a valid"},
		{Command{a, b, "refs/notes/commits"}, "is no branch"},
		{Command{a, b, "refs/for/main"}, "is no branch"},
		{Command{a, b, "HEAD"}, "is no branch"},
		{Command{a, b, "refs/heads"}, "is no branch"},
		{Command{a, b, "refs/remotes/origin/\xff"}, "refs/remotes/origin/? is no branch"},
	} {
		got := Decide(c.cmd, p)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) || strings.ContainsAny(got, "\n\x00") {
			t.Errorf("%v: %q, want %q", c.cmd, got, c.want)
		}
	}
}

func TestOneOfTwoRefused(t *testing.T) {
	req, err := Read(strings.NewReader(body(update("refs/heads/main")+caps, update("refs/heads/other"))))
	reasons, pass := DecideAll(req, Policy{"h/p", []string{"main"}})
	if err != nil || pass || !strings.Contains(reasons[0], "another ref") || !strings.Contains(reasons[1], "not listed") {
		t.Fatalf("%q %t %v", reasons, pass, err)
	}
	r := pktline.NewReader(bytes.NewReader(Report(req, reasons)))
	p, err := r.Next()
	if err != nil || p.Payload[0] != 1 {
		t.Fatalf("%q, %v", p.Payload, err)
	}
	want := "unpack ok\n|ng refs/heads/main aibox: not passed on, as another ref of this push is refused\n|"
	got, inner := "", pktline.NewReader(strings.NewReader(string(p.Payload[1:])))
	for {
		p, err := inner.Next()
		if err != nil || p.Kind != pktline.Data {
			break
		}
		got += string(p.Payload) + "|"
	}
	if !strings.HasPrefix(got, want) {
		t.Errorf("report %q, want %q", got, want)
	}
}

func TestReportOfAll(t *testing.T) {
	lines := []string{update("refs/heads/"+strings.Repeat("x", 900)+"0") + caps}
	for i := range MaxCommands - 1 {
		lines = append(lines, update(fmt.Sprint("refs/heads/", strings.Repeat("x", 900), i+1)))
	}
	req, err := Read(strings.NewReader(body(lines...)))
	if err != nil {
		t.Fatal(err)
	}
	reasons, _ := DecideAll(req, Policy{})
	var plain []byte
	for r := pktline.NewReader(bytes.NewReader(Report(req, reasons))); ; {
		p, err := r.Next()
		if err != nil || p.Kind == pktline.Flush {
			break
		}
		plain = append(plain, p.Payload[1:]...)
	}
	if n := bytes.Count(plain, []byte("ng refs/heads/")); n != MaxCommands || !bytes.HasSuffix(plain, []byte("0000")) {
		t.Errorf("%d of %d refs are in the report", n, MaxCommands)
	}
	if Report(Request{Commands: req.Commands}, reasons) != nil {
		t.Error("a report that was not asked for")
	}
}

func TestFilterOffer(t *testing.T) {
	got := FilterOffer(a + " refs/heads/x\x00report-status push-cert=123-abc push-options delete-refs object-format=sha1\n")
	if want := a + " refs/heads/x\x00report-status delete-refs object-format=sha1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	full := a + " refs/heads/x\x00" + strings.Repeat("c", pktline.MaxPayload)
	if full = full[:pktline.MaxPayload]; FilterOffer(full) != full {
		t.Error("the line of a full packet is changed")
	}
}

// FuzzRead asks for what is promised: no commands on an error, what passes
// reads back as the same, and every command that passes is of a listed branch.
func FuzzRead(f *testing.F) {
	f.Add([]byte(body(update("refs/heads/x")+caps, zeros+" "+b+" refs/heads/claude/y") + "PACK"))
	f.Add([]byte(body("shallow "+a, update("refs/heads/x")+caps)))
	f.Add([]byte(body("push-cert"+caps, update("refs/heads/x"), "push-cert-end\n")))
	f.Add([]byte(body(update("refs/heads/x") + caps + " push-options")))
	f.Add([]byte("0000"))
	policy := Policy{"h/p", []string{"x", "claude/*"}}
	allowed := regexp.MustCompile(`^refs/heads/(x|claude/[^/]+)$`)
	f.Fuzz(func(t *testing.T, in []byte) {
		req, err := Read(bytes.NewReader(in))
		if err != nil {
			if len(req.Commands) > 0 || req.Refusal != "" {
				t.Fatalf("%+v with %v", req, err)
			}
			return
		}
		reasons, pass := DecideAll(req, policy)
		if len(reasons) != len(req.Commands) {
			t.Fatalf("%d reasons for %d commands", len(reasons), len(req.Commands))
		}
		if !pass {
			Report(req, reasons)
			return
		}
		for _, c := range req.Commands {
			if !allowed.MatchString(c.Ref) || c.deletes() {
				t.Fatalf("%+v passes", c)
			}
		}
		encoded := req.Encode()
		again, err := Read(bytes.NewReader(encoded))
		if err != nil || !bytes.Equal(again.Encode(), encoded) || fmt.Sprint(again.Commands) != fmt.Sprint(req.Commands) {
			t.Fatalf("%q became %+v, %v", encoded, again, err)
		}
	})
}

// FuzzMatch compares with a regular expression.
func FuzzMatch(f *testing.F) {
	f.Add("claude/*", "claude/x")
	f.Add("*a*a/b*", "aaa/bc")
	f.Add("**", "x")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		want, err := regexp.MatchString(`\A(?s:`+strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `[^/]*`)+`)\z`, name)
		if got := match(pattern, name); err == nil && got != want {
			t.Errorf("%q matches %q: %t, want %t", pattern, name, got, want)
		}
	})
}
