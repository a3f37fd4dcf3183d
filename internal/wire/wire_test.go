package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestHelloSkipsNoiseAndReadsNoFurther(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("noise\x00AIBOX\xffLI")
	want := Hello{Version: Version, Nonce: [NonceSize]byte{1, 2, 3}}
	if err := WriteHello(&b, want); err != nil {
		t.Fatal(err)
	}
	b.WriteString("next")
	got, err := ReadHello(&b)
	if err != nil || got != want {
		t.Fatalf("ReadHello = %v, %v, want %v", got, err, want)
	}
	if rest := b.String(); rest != "next" {
		t.Errorf("rest = %q, want %q", rest, "next")
	}
}

func TestHelloRefuses(t *testing.T) {
	var old bytes.Buffer
	_ = WriteHello(&old, Hello{Version: Version + 1})
	if _, err := ReadHello(&old); !errors.Is(err, ErrVersion) {
		t.Errorf("other version: %v", err)
	}
	if _, err := ReadHello(strings.NewReader(strings.Repeat("x", maxHelloNoise+100))); err == nil {
		t.Error("endless noise was accepted")
	}
	if _, err := ReadHello(strings.NewReader("\x00AIB")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("truncated: %v", err)
	}
}

func TestService(t *testing.T) {
	var b bytes.Buffer
	if err := WriteService(&b, "proxy"); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadService(&b); got != "proxy" || err != nil {
		t.Errorf("ReadService = %q, %v", got, err)
	}
	for _, bad := range []string{"\x00", "\x21" + strings.Repeat("a", 33), "\x03a-b", "\x02A1", "\x05ab", ""} {
		if got, err := ReadService(strings.NewReader(bad)); err == nil || got != "" {
			t.Errorf("ReadService(%q) = %q, %v, want an error", bad, got, err)
		}
	}
}

func TestMessageLimits(t *testing.T) {
	var b bytes.Buffer
	if err := WriteMessage(&b, ToHost{Failed: &Failed{Reason: strings.Repeat("x", MaxToHost)}}, MaxToHost); err == nil {
		t.Error("a message over the limit was written")
	}
	var m ToHost
	if err := ReadMessage(strings.NewReader("\xff\xff\xff\xff{}"), &m, MaxToHost); err == nil {
		t.Error("a message over the limit was read")
	}
	if err := ReadMessage(strings.NewReader("\x00\x00\x00\x01{"), &m, MaxToHost); err == nil {
		t.Error("broken JSON was accepted")
	}
}

func FuzzReadHello(f *testing.F) {
	f.Add([]byte("x" + helloMagic + "\x00\x010123456789abcdef"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ReadHello(bytes.NewReader(b))
		if err != nil {
			if h != (Hello{}) {
				t.Errorf("value beside an error: %v", h)
			}
			return
		}
		var again bytes.Buffer
		if err := WriteHello(&again, h); err != nil || !bytes.Contains(b, again.Bytes()) {
			t.Errorf("re-encoded %x, %v is not in %x", again.Bytes(), err, b)
		}
	})
}

func FuzzReadMessage(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add([]byte("\x00\x00\x00\x15{\"ready\":{\"steps\":[]}}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m ToHost
		_ = ReadMessage(bytes.NewReader(b), &m, MaxToHost)
	})
}
