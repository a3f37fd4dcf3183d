package suggest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUserRegistries(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{}
	user := User{Home: home, Lookup: func(n string) (string, bool) { v, ok := env[n]; return v, ok }}
	check := func(name string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, user.Entries(name)); diff != "" {
			t.Errorf("%s with %v: %s", name, env, diff)
		}
	}
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check("go", "preset:go")
	check("npm", "preset:npm")
	check("pypi", "preset:pypi")
	check("cargo", "preset:cargo")

	write(".config/go/env", "GOFLAGS=-x\nGOPROXY=https://goproxy.example.com,direct\n")
	check("go", "goproxy.example.com")
	env["GOPROXY"] = "http://u:p@a.example.com:8081/x|https://b.example.com,off,file:///x,https://anything.golang.org"
	check("go", "a.example.com:8081", "b.example.com")
	env["GOPROXY"] = "https://anything.golang.org,direct"
	check("go", "preset:go")

	write(".npmrc", "; comment\n//npm.example.com/:_authToken=secret\nregistry = \"https://npm.example.com/r/\"\n")
	check("npm", "npm.example.com")
	write(".pip/pip.conf", "[global]\nindex-url = http://10.0.0.8/simple\n")
	check("pypi", "10.0.0.8:80")
	env["PIP_INDEX_URL"] = "https://pip.example.com/simple"
	check("pypi", "pip.example.com")
	env["PIP_INDEX_URL"] = "not a url"
	check("pypi", "preset:pypi")
}
