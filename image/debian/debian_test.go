package debian

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSourcesOf(t *testing.T) {
	const signed = "deb [signed-by=" + keyring + "] "
	for name, c := range map[string]struct {
		targets string
		want    []string
	}{
		"Debian": {"Debian\tDebian\thttp://m.example/debian/\nDebian\tDebian\thttp://other.example/debian/\n" +
			"Debian\tDebian-Security\thttp://m.example/security/\nDebian Backports\tDebian Backports\thttp://m.example/b/\n",
			[]string{signed + "http://m.example/debian/ trixie main", signed + "http://m.example/debian/ trixie-updates main",
				signed + "http://m.example/security/ trixie-security main"}},
		"no security repository": {"Debian\tDebian\tmirror+file:/etc/apt/mirrors\n",
			[]string{signed + "mirror+file:/etc/apt/mirrors trixie main", signed + "mirror+file:/etc/apt/mirrors trixie-updates main"}},
		"Ubuntu":                   {"Ubuntu\tUbuntu\thttp://u.example/ubuntu/\n", nil},
		"security alone":           {"Debian\tDebian-Security\thttp://m.example/security/\n", nil},
		"another's repository":     {"Example\tDebian\thttp://evil.example/\n", nil},
		"lists never fetched":      {"\t\thttp://m.example/debian/\n", nil},
		"a repository without URI": {"Debian\tDebian\t\n", nil},
		"nothing":                  {"", nil},
	} {
		if diff := cmp.Diff(c.want, sourcesOf(c.targets, "trixie")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseStatus(t *testing.T) {
	const status = "Package: zlib\nStatus: install ok installed\nVersion: 1:2-3\nDescription: a\n Package: not-this\n\n" +
		"Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n\nPackage: bash\nStatus: install ok installed\nVersion: 5\n"
	got, err := ParseStatus([]byte(status))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Package{{"bash", "5"}, {"zlib", "1:2-3"}}, got); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	if got, err := ParseStatus([]byte("Package: gone\n")); err == nil || got != nil {
		t.Errorf("a list without an installed package gives %v, %v", got, err)
	}
}
