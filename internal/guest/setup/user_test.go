package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/wire"
)

// host is a user's set-up as it is copied.
func host(memory, settings string) wire.UserSetup {
	u := wire.UserSetup{Memory: []byte(memory)}
	if settings != "" {
		if err := json.Unmarshal([]byte(settings), &u.Settings); err != nil {
			panic("bug: " + err.Error())
		}
	}
	return u
}

// copyUser starts the VM once and returns the two files, "-" for a missing one.
func copyUser(t *testing.T, home string, u wire.UserSetup) (memory, settings string) {
	t.Helper()
	if err := User(home, os.Getuid(), os.Getgid(), u); err != nil {
		t.Fatal(err)
	}
	text := func(name string) string {
		b, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			return "-"
		}
		return string(b)
	}
	settings = text(settingsFile)
	var values map[string]any
	if json.Unmarshal([]byte(settings), &values) == nil {
		b, _ := json.Marshal(values)
		settings = string(b)
	}
	return text(memoryFile), settings
}

func edit(t *testing.T, home, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSettingsChosenInTheVMStay(t *testing.T) {
	home := t.TempDir()
	check := func(step, hostSettings, want string) {
		t.Helper()
		if _, got := copyUser(t, home, host("", hostSettings)); got != want {
			t.Errorf("%s: %s, want %s", step, got, want)
		}
	}
	check("nothing", ``, `-`)
	check("first start", `{"model":"opus","theme":"dark"}`, `{"model":"opus","theme":"dark"}`)
	check("changed on the host", `{"model":"haiku","theme":"dark"}`, `{"model":"haiku","theme":"dark"}`)

	edit(t, home, settingsFile, `{"model":"sonnet","theme":"dark","permissions":{"allow":["Bash(ls)"]},"verbose":true}`)
	check("chosen in the VM", `{"model":"opus","theme":"light","verbose":false}`,
		`{"model":"sonnet","permissions":{"allow":["Bash(ls)"]},"theme":"light","verbose":true}`)
	check("again", `{"model":"opus","theme":"light","verbose":false}`,
		`{"model":"sonnet","permissions":{"allow":["Bash(ls)"]},"theme":"light","verbose":true}`)
	check("dropped on the host", `{"model":"opus"}`, `{"model":"sonnet","permissions":{"allow":["Bash(ls)"]},"verbose":true}`)
	check("key off", ``, `{"model":"sonnet","permissions":{"allow":["Bash(ls)"]},"verbose":true}`)

	edit(t, home, settingsFile, `{}`)
	check("removed in the VM", `{"model":"opus"}`, `{"model":"opus"}`) // never a copy that stood
	edit(t, home, settingsFile, `{}`)
	check("removed after it was copied", `{"model":"opus"}`, `{}`)
	check("and it stays so", `{"model":"haiku"}`, `{}`)
	edit(t, home, settingsFile, `{"model":"haiku"}`)
	check("the same by chance", `{"model":"haiku"}`, `{"model":"haiku"}`)
	check("is a copy again", `{"model":"opus"}`, `{"model":"opus"}`)
	edit(t, home, settingsFile, `{"model": "opus" }`)
	check("written in another way", `{"model":"haiku"}`, `{"model":"haiku"}`)
}

func TestMemoryWrittenInTheVMStays(t *testing.T) {
	home := t.TempDir()
	check := func(step, hostMemory, want string) {
		t.Helper()
		if got, _ := copyUser(t, home, host(hostMemory, "")); got != want {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
	check("nothing", "", "-")
	check("first start", "be brief\n", "be brief\n")
	check("changed on the host", "be kind\n", "be kind\n")
	edit(t, home, memoryFile, "be kind\n- noted in the VM\n")
	check("added in the VM", "be bold\n", "be bold\n- noted in the VM\n")
	check("dropped on the host", "", "- noted in the VM\n")
	check("back on the host", "be brief\n", "be brief\n\n- noted in the VM\n")
	edit(t, home, memoryFile, "be verbose\n")
	check("edited in the VM", "be quick\n", "be verbose\n")
	edit(t, home, memoryFile, "be brief\n")
	check("the copy again", "be quick\n", "be quick\n")
	check("key off", "", "-")
	check("again on", "be quick\n", "be quick\n")
	if err := os.Remove(filepath.Join(home, memoryFile)); err != nil {
		t.Fatal(err)
	}
	check("removed in the VM", "be quick\n", "-")
}

// What the VM put into the home must not lead the copying, which root does, anywhere.
func TestUserStaysInTheHome(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	setups := map[string]func(home string) error{
		"folder is a link": func(h string) error { return os.Symlink(filepath.Dir(outside), filepath.Join(h, claudeFolder)) },
		"folder is a file": func(h string) error { return os.WriteFile(filepath.Join(h, claudeFolder), nil, 0o600) },
	}
	for _, name := range []string{memoryFile, settingsFile, recordFile} {
		setups[name+" is a link"] = func(h string) error {
			return os.Symlink(outside, filepath.Join(h, name))
		}
		setups[name+" is a folder"] = func(h string) error { return os.Mkdir(filepath.Join(h, name), 0o700) }
		setups[name+".aibox is a link"] = func(h string) error { return os.Symlink(outside, filepath.Join(h, name+".aibox")) }
	}
	for name, setup := range setups {
		home := t.TempDir()
		if filepath.Dir(name) == claudeFolder {
			if err := os.Mkdir(filepath.Join(home, claudeFolder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := setup(home); err != nil {
			t.Fatal(err)
		}
		_ = User(home, os.Getuid(), os.Getgid(), host("memory\n", `{"model":"opus"}`)) // an error or not: nothing outside
		left, err := os.ReadDir(filepath.Dir(outside))
		if err != nil || len(left) != 0 {
			t.Errorf("%s: outside are %v, %v", name, left, err)
		}
	}
}

func TestUserLeavesOddFilesAlone(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, claudeFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	edit(t, home, settingsFile, `{"model": half`)
	edit(t, home, recordFile, `[[[`)
	memory, settings := copyUser(t, home, host("memory\n", `{"model":"opus"}`))
	if settings != `{"model": half` || memory != "memory\n" {
		t.Errorf("settings %q, memory %q", settings, memory)
	}
}

// Nothing that the VM wrote is lost, and a second start changes nothing.
func FuzzMerge(f *testing.F) {
	f.Add("be kind\n- mine\n", "be kind\n", "be bold\n", `{"a":1,"b":2}`, `{"a":1}`, `{"a":2,"c":3}`)
	f.Add("", "", "x", `{}`, `{"a":"<"}`, `{"a":"\u003c"}`)
	f.Add("aa", "a", "", `{"a":null}`, `{}`, `{"a":1}`)
	f.Fuzz(func(t *testing.T, file, last, now, settings, before, after string) {
		text, copied := mergeMemory(file, last, now)
		if strings.TrimSpace(file) != "" && len(text) < len(file)-len(last) {
			t.Errorf("mergeMemory(%q, %q, %q) lost text: %q", file, last, now, text)
		}
		if again, same := mergeMemory(text, copied, now); again != text || same != copied {
			t.Errorf("mergeMemory(%q, %q, %q) = %q, %q, then %q, %q", file, last, now, text, copied, again, same)
		}
		var vm, old, host, chosen map[string]json.RawMessage
		if json.Unmarshal([]byte(settings), &vm) != nil || json.Unmarshal([]byte(settings), &chosen) != nil || vm == nil ||
			json.Unmarshal([]byte(before), &old) != nil || json.Unmarshal([]byte(after), &host) != nil {
			return
		}
		_, record := mergeSettings(vm, old, host)
		for key, value := range chosen {
			if !same(value, old[key]) && !same(value, vm[key]) {
				t.Errorf("mergeSettings lost %s: %s of %s, %s, %s", key, value, settings, before, after)
			}
		}
		if changed, _ := mergeSettings(vm, record, host); changed {
			t.Errorf("mergeSettings goes on changing %s, %s, %s", settings, before, after)
		}
	})
}
