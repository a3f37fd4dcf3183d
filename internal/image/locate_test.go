package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/fault"
)

func TestLocate(t *testing.T) {
	base := t.TempDir()
	put := func(dir string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, dir, KernelName), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	release := Build{Version: "1.2.3", Digests: Digests{Kernel: "k"}}
	at := func(flag string, b Build) Search {
		if flag != "" {
			flag = filepath.Join(base, flag)
		}
		return Search{Flag: flag, Package: []string{filepath.Join(base, "package")}, Home: filepath.Join(base, "home"), Build: b}
	}
	check := func(s Search, dir string, d Digests) {
		t.Helper()
		got, err := Locate(s)
		if want := (Found{Dir: filepath.Join(base, dir), Digests: d}); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	fails := func(s Search, kind fault.Kind, hint string) {
		t.Helper()
		got, err := Locate(s)
		if err == nil || got != (Found{}) || fault.KindOf(err) != kind || !strings.Contains(fault.HintOf(err), hint) {
			t.Errorf("got %v, %v, hint %q", got, err, fault.HintOf(err))
		}
	}

	fails(at("", Build{}), fault.Machine, "make image")
	fails(at("", release), fault.Machine, "package")
	fails(at("none", Build{}), fault.Usage, "vmlinuz")
	put("home/image/1.2.3")
	check(at("", release), "home/image/1.2.3", release.Digests)
	fails(at("", Build{}), fault.Machine, "make image")
	put("package")
	check(at("", release), "package", release.Digests)
	fails(at("", Build{}), fault.Machine, "make image")
	put("home/image/dev")
	check(at("", Build{}), "home/image/dev", Digests{})
	put("flag")
	check(at("flag", release), "flag", Digests{})
}

func TestBuiltFromACheckout(t *testing.T) {
	if b := Built(); b.Release() || b.Digests != (Digests{}) {
		t.Errorf("a test binary says it is %+v", b)
	}
}
