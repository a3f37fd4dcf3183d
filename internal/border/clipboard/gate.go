package clipboard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"aibox/internal/border/clipboard/keys"
)

// Source reads the user's clipboard. Its calls end by themselves in some
// seconds, whatever the clipboard's owner does.
type Source interface {
	// Types lists the types in which the clipboard's contents can be had.
	Types(ctx context.Context) ([]string, error)
	// Image returns the contents as the type, at most MaxImage bytes.
	Image(ctx context.Context, kind string) ([]byte, error)
}

// Config is what a Gate needs.
type Config struct {
	Source Source
	// HeldBack is told what the VM did not get; it may be nil.
	HeldBack func(what string)
	// Now is the clock; nil means the system's.
	Now func() time.Time
}

// Gate watches one user's keys and serves one VM. It is safe for concurrent use.
type Gate struct {
	config Config

	mu     sync.Mutex
	keys   keys.Detector
	window *window // of the last key
}

// New returns a gate that is closed until a key opens it.
func New(c Config) *Gate {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.HeldBack == nil {
		c.HeldBack = func(string) {}
	}
	return &Gate{config: c}
}

// Input sees the user's keys before the VM does. It neither blocks nor keeps
// the slice.
func (g *Gate) Input(piece []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keys.Feed(piece) {
		g.window = newWindow(g.config.Now().Add(Window), g.config.Source)
	}
}

// now returns the open window, nil if there is none.
func (g *Gate) now() *window {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.window.open(g.config.Now()) {
		return nil
	}
	return g.window
}

// errQuestion is what a line that is no question reads as.
var errQuestion = errors.New("no question for the clipboard")

// ask is a question: for the types, or for the image of the type kind.
type ask struct{ kind string }

// parse reads a question's line without its end.
func parse(line string) (ask, error) {
	if line == "types" {
		return ask{}, nil
	}
	kind, ok := strings.CutPrefix(line, "image ")
	if !ok || len(passing([]string{kind})) == 0 {
		return ask{}, errQuestion
	}
	return ask{kind}, nil
}

// Serve answers the one question of a stream and closes it.
func (g *Gate) Serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(questionTime))
	line, err := bufio.NewReaderSize(conn, maxQuestion).ReadSlice('\n')
	if err != nil {
		return
	}
	question, err := parse(string(line[:len(line)-1]))
	if err != nil {
		g.config.HeldBack("a question that is none")
		return
	}
	answer, ok := g.answer(question)
	_ = conn.SetDeadline(time.Now().Add(answerTime))
	if !ok {
		_, _ = conn.Write([]byte("no\n"))
		return
	}
	if _, err := fmt.Fprintf(conn, "ok %d\n", len(answer)); err == nil {
		_, _ = conn.Write(answer)
	}
}

// answer is nothing but a list of types, or an image.
func (g *Gate) answer(question ask) ([]byte, bool) {
	w := g.now()
	if w == nil {
		g.config.HeldBack("a question without the paste key")
		return nil, false
	}
	if question.kind == "" {
		types := w.list()
		return []byte(strings.Join(types, "\n")), len(types) > 0
	}
	if !w.take(question.kind) {
		g.config.HeldBack("an image that was not offered")
		return nil, false
	}
	image, err := g.config.Source.Image(context.Background(), question.kind)
	if err != nil {
		return nil, false
	}
	if len(image) > MaxImage || !isImage(question.kind, image) {
		g.config.HeldBack("contents of the clipboard that are no " + question.kind)
		return nil, false
	}
	return image, true
}
