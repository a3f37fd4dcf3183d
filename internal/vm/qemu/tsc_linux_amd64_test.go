package qemu

import "testing"

func TestHostTSCIsSteady(t *testing.T) {
	a, b := hostTSC(), hostTSC()
	if a == 0 {
		t.Skip("found no trusted time stamp counter, wanted one")
	}
	if diff := max(a-b, b-a); diff > a/1000 {
		t.Errorf("measured %d and %d kHz", a, b)
	}
}
