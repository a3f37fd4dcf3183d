package zone

import "testing"

func TestChecked(t *testing.T) {
	for name, ok := range map[string]bool{
		"UTC": true, "Europe/Berlin": true, "America/Argentina/Buenos_Aires": true, "Etc/GMT+3": true,
		"": false, "/etc/passwd": false, "../x": false, "a/b/c/d": false, "Europe/Berlin\n": false, "x=y": false,
	} {
		if got := checked(name); (got == name && name != "") != ok || !ok && got != "" {
			t.Errorf("checked(%q) = %q", name, got)
		}
	}
}
