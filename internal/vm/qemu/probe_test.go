package qemu

import "testing"

func TestProbeReadsWhatQEMUSays(t *testing.T) {
	for out, want := range map[string]string{
		"QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg)\nCopyright": "7.2.22 (Debian 1:7.2+dfsg)", "nonsense\n": "unknown", "": "unknown",
	} {
		if got := parseVersion(out); got != want {
			t.Errorf("parseVersion(%q) = %q, want %q", out, got, want)
		}
	}
	const machines = "Supported machines are:\nmicrovm              microvm (i386)\nnone                 empty machine\n"
	if !hasMachine(machines, "microvm") || hasMachine("xmicrovm\nq35 microvm\n", "microvm") || hasMachine("", "microvm") {
		t.Error("the machine is not told")
	}
}
