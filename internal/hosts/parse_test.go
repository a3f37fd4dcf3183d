package hosts

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"unicode"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"example.com", "example.com"},
		{"Example.COM:443", "example.com"},
		{"example.com:80", "example.com:80"},
		{"api-1.example.com", "api-1.example.com"},
		{"intranet", "intranet"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"*.example.com", "*.example.com"},
		{"*.golang.org:443", "*.golang.org"},
		{"*.example.com:8443", "*.example.com:8443"},
		{"127.0.0.1:8080", "127.0.0.1:8080"},
		{"[::1]:8080", "[::1]:8080"},
		{"[0:0:0:0:0:0:0:1]:80", "[::1]:80"},
		{"10.1.2.3:8443", "10.1.2.3:8443"},
		{"10.1.2.3:443", "10.1.2.3:443"},
		{"[fd00::1]:443", "[fd00::1]:443"},
		{"[FD00::0001]:443", "[fd00::1]:443"},
		{"169.254.169.254:80", "169.254.169.254:80"},
		{"8.8.8.8:443", "8.8.8.8:443"},
		{"[64:ff9b::a00:1]:443", "[64:ff9b::a00:1]:443"},
		{"127.0.0.1:3127", "127.0.0.1:3127"},
		{"10.0.0.1:3128", "10.0.0.1:3128"},
		{"1.example.com", "1.example.com"},
		{"123.com:65535", "123.com:65535"},
		{"0x7f.example", "0x7f.example"},
	} {
		e, err := Parse(c.in)
		if err != nil || e.String() != c.want {
			t.Errorf("Parse(%q) = %v, %v, want %s", c.in, e, err, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"example.com": "- example.com", "example.com:80": "- example.com:80", "intranet:80": "- intranet:80",
		"127.0.0.1:80": "- 127.0.0.1:80", "[::1]:80": `- "[::1]:80"`, "*.example.com": `- "*.example.com"`,
		"null": `- "null"`, "1.e5": `- "1.e5"`, "[fd00::1]:443": `- "[fd00::1]:443"`,
	} {
		if e, err := Parse(in); err != nil || e.Line() != want {
			t.Errorf("Parse(%q).Line() = %s, %v, want %s", in, e.Line(), err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ in, reason, hint string }{
		{"", "is empty", "example.com"},
		{"localhost:80", "is no entry", "127.0.0.1:80 or [::1]:80"},
		{"localhost", "is no entry", "127.0.0.1:443"},
		{"LOCALHOST.:80", "is no entry", "127.0.0.1:80"},
		{"foo.localhost:80", "is no entry", "127.0.0.1:80"},
		{"*.localhost:80", "is no entry", "127.0.0.1:80"},
		{"0.0.0.0:1", "no address of one host", "127.0.0.1:1"},
		{"0.1.2.3:1", "no address of one host", "127.0.0.1:1"},
		{"[::]:80", "no address of one host", "[::1]:80"},
		{"::", "without brackets", "[::]:443"},
		{"::1", "without brackets", "[::1]:443"},
		{"fd00::1:443", "without brackets", "[fd00::1:443]:443"},
		{"*", "every host", "*.example.com"},
		{"*:443", "every host", "*.example.com"},
		{"*.*", "every host", "*.example.com"},
		{"*.*.x", "not the first label", "*.example.com"},
		{"a.*.x", "not the first label", "*.example.com"},
		{"*example.com", "not the first label", "*.example.com"},
		{"*.com", "top-level domain", "*.example.com"},
		{"*.", "no host", ""},
		{"*.10.0.0.1:80", "wildcard of an address", "10.0.0.1:80"},
		{"*.127.0.0.1:80", "wildcard of an address", "127.0.0.1:80"},
		{"http://x", "is a URL", "write x:80"},
		{"HTTP://x:8080/", "is a URL", "write x:8080"},
		{"http://[2001:db8::1]/", "is a URL", "write [2001:db8::1]:80"},
		{"https://user@Example.com:8443/a?b", "is a URL", "write example.com:8443"},
		{"https://", "is a URL", "example.com"},
		{"example.com/path", "has a path", "write example.com"},
		{"example.com?q", "has a path", "write example.com"},
		{`example.com\@evil.com`, "has a path", "write example.com"},
		{"me@example.com", "has a login", "write example.com"},
		{"a..b", "empty label", ""},
		{".example.com", "empty label", ""},
		{"example.com..", "empty label", ""},
		{"example.com.", "ends in a dot", "write example.com"},
		{"example.com.:80", "ends in a dot", "write example.com:80"},
		{"host:0", "no port", "host:443"},
		{"host:99999", "no port", "host:443"},
		{"host:65536", "no port", "host:443"},
		{"host:", "no port", "host:443"},
		{"host:080", "no port", "host:443"},
		{"host:+80", "no port", "host:443"},
		{"host:80x", "no port", "host:443"},
		{"host:http", "no port", "host:443"},
		{"a:1:2", "more than one colon", "host:port"},
		{"my_host.example", "underscore", ""},
		{"a b", "space", "one host per entry"},
		{" example.com", "space", ""},
		{"example.com\n", "space or control", ""},
		{"a\x00b", "space or control", ""},
		{"bücher.example", "outside ASCII", "xn--"},
		{"example。com", "outside ASCII", "xn--"},
		{"-a.example", "hyphen", ""},
		{"a-.example", "hyphen", ""},
		{"a,b", `has "," in a host name`, ""},
		{"a%2eb", `has "%"`, ""},
		{"10.1.2.3", "without a port", "write 10.1.2.3:443"},
		{"[fd00::1]", "without a port", "write [fd00::1]:443"},
		{"127.0.0.1", "without a port", "write 127.0.0.1:443"},
		{"127.0.0.2:80", "on the loopback", "write 127.0.0.1:80"},
		{"127.0.0.1:3128", "aibox itself uses", "3128 to 3132"},
		{"[::1]:3132", "aibox itself uses", "3128 to 3132"},
		{"224.0.0.1:80", "multicast", "one host"},
		{"[ff02::1]:80", "multicast", "one host"},
		{"255.255.255.255:80", "broadcast", "one host"},
		{"[fe80::1]:80", "link-local", "another address"},
		{"[fe80::1%eth0]:80", "zone", "address alone"},
		{"[::ffff:10.0.0.1]:80", "IPv6 spelling", "write 10.0.0.1:443"},
		{"[::ffff:7f00:1]:80", "IPv6 spelling", "write 127.0.0.1:443"},
		{"[10.0.0.1]:80", "IPv4 address in brackets", "10.0.0.1:443"},
		{"[example.com]:80", "no IPv6 address", "[2001:db8::1]:443"},
		{"[::1", "more than one colon", ""},
		{"[::1]x:80", `after the "]"`, "[::1]:443"},
		{"[::1]]:80", `after the "]"`, ""},
		{"[]:80", "no IPv6 address", ""},
		{"0x7f.1", "read as an address", "four decimal numbers"},
		{"0x7f000001:80", "read as an address", "four decimal numbers"},
		{"0X7F.0.0.1:80", "read as an address", "four decimal numbers"},
		{"017700000001:80", "read as an address", "four decimal numbers"},
		{"2130706433:80", "read as an address", "four decimal numbers"},
		{"127.1:80", "read as an address", "four decimal numbers"},
		{"1.2.3", "read as an address", "four decimal numbers"},
		{"010.0.0.1:80", "read as an address", "four decimal numbers"},
		{"10.0.0.1.:80", "read as an address", "four decimal numbers"},
		{"10.0.0.256:80", "read as an address", "four decimal numbers"},
		{"1.2.3.4.5:80", "read as an address", "four decimal numbers"},
		{"evil.0x7f", "read as an address", "four decimal numbers"},
		{"evil.0x", "read as an address", "four decimal numbers"},
		{"example.1:80", "read as an address", "four decimal numbers"},
		{strings.Repeat("a", 64) + ".example", "63 bytes", ""},
		{strings.Repeat("a.", 127) + "aa", "253 bytes", ""},
		{strings.Repeat("a", 301), "too long", ""},
	} {
		e, err := Parse(c.in)
		var pe *Error
		if !errors.As(err, &pe) {
			t.Errorf("Parse(%q) = %v, %v, want an *Error", c.in, e, err)
			continue
		}
		if !strings.Contains(pe.Reason, c.reason) || !strings.Contains(pe.Hint, c.hint) || pe.Hint == "" {
			t.Errorf("Parse(%q): %q, hint %q; want %q, hint %q", c.in, pe.Reason, pe.Hint, c.reason, c.hint)
		}
	}
}

func TestParseTarget(t *testing.T) {
	for _, c := range []struct {
		in, want, line string
		loopback       bool
	}{
		{"example.com:443", "example.com:443", "example.com", false},
		{"EXAMPLE.com.:80", "example.com:80", "example.com:80", false},
		{"localhost:8080", "localhost:8080", "127.0.0.1:8080", true},
		{"127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1:8080", true},
		{"[::1]:8080", "[::1]:8080", "[::1]:8080", true},
		{"127.0.0.2:80", "127.0.0.2:80", "", false},
		{"localhost:3129", "localhost:3129", "", true},
		{"10.0.0.5:443", "10.0.0.5:443", "10.0.0.5:443", false},
		{"0.0.0.0:80", "0.0.0.0:80", "", false},
		{"x.localhost:80", "x.localhost:80", "", false},
	} {
		target, err := ParseTarget(c.in, 0)
		if err != nil || target.String() != c.want || target.Loopback() != c.loopback {
			t.Errorf("ParseTarget(%q) = %v, %v", c.in, target, err)
		}
		e, err := target.Entry()
		if (err == nil) != (c.line != "") || err == nil && e.String() != c.line {
			t.Errorf("ParseTarget(%q).Entry() = %v, %v, want %q", c.in, e, err, c.line)
		}
	}
	for _, bad := range []string{
		"example.com", "*.example.com:80", "http://example.com:80", "a@b:80", "2130706433:80", "0x7f.1:80", "127.1:80",
		"[::ffff:127.0.0.1]:80", "[::1%lo]:80", "[::]", "::1:80", "a b:80", "a\r\nb:80", "a_b.c:80", "a:80/", "", ":80", "a:0",
	} {
		if target, err := ParseTarget(bad, 0); err == nil || target != (Target{}) {
			t.Errorf("ParseTarget(%q) = %v, %v, want an error", bad, target, err)
		}
	}
	if target, err := ParseTarget("example.com", 80); err != nil || target.Port != 80 {
		t.Errorf("default port: %v, %v", target, err)
	}
}

// readsAsAddress is how lenient programs read numbers as an IPv4 address:
// one to four parts, each decimal, octal or hexadecimal.
func readsAsAddress(s string) bool {
	parts := strings.Split(strings.TrimSuffix(strings.ToLower(s), "."), ".")
	for _, p := range parts {
		hex, isHex := strings.CutPrefix(p, "0x")
		if isHex && strings.Trim(hex, "0123456789abcdef") == "" {
			continue
		}
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return len(parts) <= 4
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"example.com", "*.example.com:80", "[::1]:80", "127.0.0.1:80", "0x7f.1", "http://a@b:1/c", "[fe80::1%a]:1", "A..b:099", "ü", "*.*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err != nil {
			var pe *Error
			if e != (Entry{}) || !errors.As(err, &pe) || pe.Reason == "" || pe.Hint == "" {
				t.Fatalf("Parse(%q) = %v, %#v", s, e, err)
			}
			return
		}
		again, err := Parse(e.String())
		if err != nil || again != e {
			t.Errorf("Parse(%q) = %v, and again %v, %v", s, e, again, err)
		}
		if e.Port == 0 || e.Host != strings.ToLower(e.Host) || strings.ContainsFunc(e.String(), unicode.IsSpace) {
			t.Errorf("Parse(%q) = %#v", s, e)
		}
		if (e.Kind == Name || e.Kind == Subdomains) == e.Addr.IsValid() || readsAsAddress(e.Host) {
			t.Errorf("Parse(%q) = %#v, which is both a name and an address", s, e)
		}
	})
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"example.com:443", "LOCALHOST.:80", "[::1]:80", "127.1:80", "[::ffff:1.2.3.4]:80", "a:80\r\n", "0x1.:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := ParseTarget(s, 0)
		if err != nil {
			if target != (Target{}) {
				t.Fatalf("ParseTarget(%q) = %v, %v", s, target, err)
			}
			return
		}
		again, err := ParseTarget(target.String(), 0)
		if err != nil || again != target {
			t.Errorf("ParseTarget(%q) = %v, and again %v, %v", s, target, again, err)
		}
		if target.Name != "" && readsAsAddress(target.Name) || (target.Name == "") != target.Addr.IsValid() {
			t.Errorf("ParseTarget(%q) = %#v, a name that others read as an address", s, target)
		}
		if e, err := target.Entry(); err == nil {
			if _, matched := (List{e}).Match(target); !matched {
				t.Errorf("the entry %v for %v does not allow it", e, target)
			}
		}
		if _, err := netip.ParseAddr(target.Name); err == nil {
			t.Errorf("ParseTarget(%q) took an address for a name", s)
		}
	})
}
