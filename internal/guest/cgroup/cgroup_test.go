package cgroup

import "testing"

func TestLimitsFor(t *testing.T) {
	for _, c := range []struct{ memory, wantMemory, wantPIDs uint64 }{
		{256 * mib, 192 * mib, 1024},
		{512 * mib, 384 * mib, 2048},
		{2048 * mib, 1888 * mib, 8192},
		{64 << 30, 60 << 30, 16384},
	} {
		if got := LimitsFor(c.memory); got.Memory != c.wantMemory || got.PIDs != c.wantPIDs {
			t.Errorf("LimitsFor(%d MiB) = %d MiB, %d, want %d MiB, %d",
				c.memory/mib, got.Memory/mib, got.PIDs, c.wantMemory/mib, c.wantPIDs)
		}
	}
}

func TestPopulated(t *testing.T) {
	for events, want := range map[string]bool{
		"populated 1\nfrozen 0\n": true,
		"populated 0\nfrozen 0\n": false,
		"frozen 0\npopulated 0\n": false,
		"frozen 0\n":              true,
		"populated\n":             true,
		"":                        true,
	} {
		if got := populated(events); got != want {
			t.Errorf("populated(%q) = %v, want %v", events, got, want)
		}
	}
}
