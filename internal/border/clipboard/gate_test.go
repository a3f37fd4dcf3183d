package clipboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// board is a clipboard.
type board struct {
	mu     sync.Mutex
	types  []string
	image  []byte
	err    error
	reads  int
	images int
}

func (b *board) Types(context.Context) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	return b.types, b.err
}

func (b *board) Image(context.Context, string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.images++
	return b.image, b.err
}

// scene is a gate with a clock that stands still.
type scene struct {
	t     *testing.T
	gate  *Gate
	board *board

	mu   sync.Mutex
	now  time.Time
	held []string
}

var png = []byte("\x89PNG\r\n\x1a\nrest")

func newScene(t *testing.T) *scene {
	s := &scene{t: t, now: time.Unix(1_900_000_000, 0), board: &board{types: []string{"TARGETS", "text/plain", "image/jpeg", "image/png"}, image: png}}
	s.gate = New(Config{Source: s.board,
		Now: func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now },
		HeldBack: func(what string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.held = append(s.held, what)
		}})
	return s
}

func (s *scene) pass(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.now = s.now.Add(d) }
func (s *scene) press()               { s.gate.Input([]byte{0x16}) }

// ask sends bytes and returns the whole answer.
func (s *scene) ask(bytes string) string {
	s.t.Helper()
	guest, host := net.Pipe()
	defer guest.Close()
	go s.gate.Serve(host)
	go func() { _, _ = io.WriteString(guest, bytes) }()
	_ = guest.SetDeadline(time.Now().Add(10 * time.Second))
	b, err := io.ReadAll(guest)
	if err != nil {
		s.t.Fatalf("%q: %v", bytes, err)
	}
	return string(b)
}

func (s *scene) want(question, answer string) {
	s.t.Helper()
	if got := s.ask(question); got != answer {
		s.t.Errorf("%q answers %q, want %q", question, got, answer)
	}
}

const types = "ok 20\nimage/png\nimage/jpeg"

func TestOneImageAfterTheKey(t *testing.T) {
	s := newScene(t)
	s.want("types\n", "no\n")
	s.want("image image/png\n", "no\n")
	if s.board.reads+s.board.images != 0 {
		t.Fatal("the clipboard was read without the key")
	}
	s.press()
	s.want("image image/png\n", "no\n") // before the types
	s.want("types\n", types)
	s.want("types\n", types)
	s.want("image image/gif\n", "no\n") // not offered
	s.want("image image/png\n", fmt.Sprintf("ok %d\n%s", len(png), png))
	s.want("image image/png\n", "no\n")
	s.want("types\n", "no\n")
	if s.board.reads != 1 || s.board.images != 1 {
		t.Errorf("the clipboard was read %d and %d times", s.board.reads, s.board.images)
	}
}

func TestWindow(t *testing.T) {
	s := newScene(t)
	s.press()
	s.want("types\n", types)
	s.pass(Window)
	s.want("types\n", types)
	s.pass(1)
	s.want("types\n", "no\n")
	s.want("image image/png\n", "no\n")
	s.press() // types of the last window do not count
	s.want("image image/png\n", "no\n")
	s.want("types\n", types)
	s.want("image image/jpeg\n", "no\n") // the bytes are PNG's; the window is spent
	s.want("image image/png\n", "no\n")
}

func TestOnlyImagesPass(t *testing.T) {
	for kind, good := range map[string]string{
		"image/png":  "\x89PNG\r\n\x1a\n",
		"image/jpeg": "\xff\xd8\xff\xe0",
		"image/gif":  "GIF89a\x01\x00\x01\x00\x80\x00\x00",
		"image/webp": "RIFF\x08\x00\x00\x00WEBPVP8 ",
		"image/bmp":  "BM\x1a\x00\x00\x00\x00\x00\x00\x00\x1a\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x01\x00\x01\x00\x18\x00",
	} {
		for _, image := range []string{good, "", "my password", "BM is the beginning of a text of some length", "GIF89a is a word", strings.Repeat("RIFFabcdWEBPVP8", 9)} {
			s := newScene(t)
			s.board.types, s.board.image = []string{kind}, []byte(image)
			s.press()
			s.ask("types\n")
			got := s.ask("image " + kind + "\n")
			if want := fmt.Sprintf("ok %d\n%s", len(image), image); (got == want) != (image == good) {
				t.Errorf("%s of %q: %q", kind, image, got)
			}
			if image != good && (got != "no\n" || len(s.held) != 1) {
				t.Errorf("%s of %q: %q, held back %q", kind, image, got, s.held)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	for size, pass := range map[int]bool{20 << 20: true, MaxImage: true, MaxImage + 1: false} {
		s := newScene(t)
		s.board.image = append(bytes.Clone(png), make([]byte, size-len(png))...)
		s.press()
		s.ask("types\n")
		got := s.ask("image image/png\n")
		if want := fmt.Sprintf("ok %d\n", size) + string(s.board.image); (got == want) != pass || !pass && got != "no\n" {
			t.Errorf("%d bytes: answer of %d bytes", size, len(got))
		}
	}
}

func TestNothingOnTheClipboard(t *testing.T) {
	for _, b := range []*board{{}, {types: []string{"UTF8_STRING", "text/html"}}, {err: errors.New("no clipboard")}} {
		s := newScene(t)
		s.board.types, s.board.image, s.board.err = b.types, b.image, b.err
		s.press()
		s.want("types\n", "no\n")
		s.want("image image/png\n", "no\n")
		if s.board.images != 0 {
			t.Error("an image was read")
		}
	}
}

func TestNoQuestions(t *testing.T) {
	for _, q := range []string{"\n", "text\n", "image text/plain\n", "image \n", "image image/svg+xml\n", "types\x00\n", "TYPES\n", strings.Repeat("x", 100)} {
		s := newScene(t)
		s.press()
		s.want(q, "")
		if s.board.reads+s.board.images != 0 {
			t.Errorf("%q reads the clipboard", q)
		}
	}
}

// TestManyAtOnce asks for the image on many streams: one gets it.
func TestManyAtOnce(t *testing.T) {
	s := newScene(t)
	s.press()
	s.ask("types\n")
	got := make(chan string, 50)
	for range cap(got) {
		go func() { got <- s.ask("image image/png\n") }()
	}
	images := 0
	for range cap(got) {
		if <-got != "no\n" {
			images++
		}
	}
	if images != 1 {
		t.Errorf("%d images", images)
	}
}

// FuzzServe asks that no bytes without the key read the clipboard, and that with
// it an answer is a list of types or nothing.
func FuzzServe(f *testing.F) {
	for _, q := range []string{"types\n", "image image/png\n", "image text/plain\n", "types", "\n"} {
		f.Add([]byte(q))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		line := append(bytes.Clone(b), '\n')
		s := newScene(t)
		s.ask(string(line))
		if s.board.reads+s.board.images != 0 {
			t.Error("the clipboard was read without the key")
		}
		s.press()
		if got := s.ask(string(line)); got != "" && got != "no\n" && got != types {
			t.Errorf("answer %q", got)
		}
	})
}
