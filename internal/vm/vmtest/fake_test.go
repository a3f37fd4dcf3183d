package vmtest

import (
	"errors"
	"net"
	"testing"

	"aibox/internal/vm"
)

func TestFake(t *testing.T) {
	Suite(t, Fake{}, func(*testing.T) vm.Spec { return vm.Spec{} })
}

func TestFakeFails(t *testing.T) {
	broken := errors.New("broken")
	if _, err := (Fake{StartErr: broken}).Start(t.Context(), vm.Spec{}); !errors.Is(err, broken) {
		t.Errorf("Start: %v", err)
	}
	m, err := Fake{Guest: func(net.Conn) error { return broken }}.Start(t.Context(), vm.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	<-m.Done()
	if !errors.Is(m.Err(), broken) {
		t.Errorf("Err: %v", m.Err())
	}
}
