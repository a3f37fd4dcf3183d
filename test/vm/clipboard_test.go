//go:build vm

package vm

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// display is an X11 desktop without a screen.
type display struct {
	t    *testing.T
	name string
	last *exec.Cmd // owner of the clipboard
}

// newDisplay starts one and makes it the box's.
func newDisplay(b *box) *display {
	b.t.Helper()
	for _, program := range []string{"Xvfb", "xclip"} {
		if _, err := exec.LookPath(program); err != nil {
			b.t.Skipf("found no %s, which this test wants", program)
		}
	}
	r, w, err := os.Pipe()
	b.must(err)
	defer r.Close()
	// Without -noreset it begins anew when its last client ends, and drops who connects then.
	cmd := exec.Command("Xvfb", "-noreset", "-displayfd", "3", "-screen", "0", "64x64x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{w}
	b.must(cmd.Start())
	w.Close()
	d := &display{t: b.t}
	b.t.Cleanup(func() {
		d.empty()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	number, err := bufio.NewReader(r).ReadString('\n')
	b.must(err)
	d.name = ":" + strings.TrimSpace(number)
	b.setenv("DISPLAY", d.name)
	b.setenv("WAYLAND_DISPLAY")
	return d
}

func (d *display) xclip(args ...string) *exec.Cmd {
	cmd := exec.Command("xclip", append([]string{"-selection", "clipboard"}, args...)...)
	cmd.Env = []string{"DISPLAY=" + d.name, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// own puts contents on the clipboard.
func (d *display) own(kind string, contents []byte) {
	d.t.Helper()
	d.empty()
	d.last = d.xclip("-quiet", "-i", "-t", kind)
	d.last.Stdin = bytes.NewReader(contents)
	if err := d.last.Start(); err != nil {
		d.t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if out, _ := d.xclip("-o", "-t", "TARGETS").Output(); strings.Contains(string(out), kind) {
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatal("the clipboard was not taken")
		}
	}
}

func (d *display) empty() {
	if d.last != nil {
		_ = d.last.Process.Kill()
		_ = d.last.Wait()
		d.last = nil
	}
}

func picture(side int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = byte(noise.Uint32())
	}
	return m
}

func pngOf(t *testing.T, side int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, picture(side)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t *testing.T, side int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture(side), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// vmShell is a shell on a terminal in the VM, with a command that waits for one
// key or more before it does its work.
type vmShell struct {
	*console
	n int
}

func (b *box) terminalShell() *vmShell {
	b.t.Helper()
	c := b.terminal("--shell")
	c.await(`\$ `)
	return &vmShell{console: c}
}

// after sends keys to a command line and returns what that prints then.
func (s *vmShell) after(keys, command string) string {
	s.t.Helper()
	s.n++
	s.send(fmt.Sprintf("stty raw -echo; echo rea''dy%d; dd bs=1 count=%d status=none of=/dev/null; stty sane; out=$( ( %s ) 2>&1 ); echo \"<\"\"<%d:$out:%d>\"\">\"\r", s.n, len(keys), command, s.n, s.n))
	s.await(fmt.Sprintf(`ready%d`, s.n))
	s.send(keys)
	m := s.await(fmt.Sprintf(`(?s)<<%d:(.*?):%d>>`, s.n, s.n))
	return strings.TrimSpace(strings.ReplaceAll(m[1], "\r\n", "\n"))
}

const (
	listTypes = "xclip -selection clipboard -o -t TARGETS"
	sumPNG    = "xclip -selection clipboard -o -t image/png | sha256sum"
	ctrlV     = "\x16"
)

func sum(b []byte) string { return fmt.Sprintf("%x  -", sha256.Sum256(b)) }

func TestClipboardImages(t *testing.T) {
	b := newUser(t)
	d := newDisplay(b)
	small, large, photo := pngOf(t, 8), pngOf(t, 2300), jpegOf(t, 40)
	if len(large) < 20<<20 {
		t.Fatalf("the large image has %d bytes", len(large))
	}
	s := b.terminalShell()
	want := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	d.own("image/png", small)
	want(s.after(ctrlV, listTypes), "image/png")
	want(s.after("\x1b[118;5u", sumPNG), sum(small))
	want(s.after("\x1b[27;5;118~", "wl-paste --type image/png | sha256sum; wl-paste -l >/dev/null 2>&1 && echo a second time"), sum(small))
	d.own("image/jpeg", photo)
	want(s.after(ctrlV, listTypes+"; xclip -selection clipboard -o -t image/jpeg | sha256sum"), "image/jpeg\n"+sum(photo))
	d.own("image/png", large)
	want(s.after(ctrlV, sumPNG), sum(large))

	refused := func(what, keys, command string) {
		t.Helper()
		if got := s.after(keys, "if "+command+" >/tmp/got 2>/dev/null; then echo passed; wc -c </tmp/got; else echo refused; fi"); got != "refused" {
			t.Errorf("%s: %s", what, got)
		}
	}
	d.own("image/png", small)
	image := "xclip -selection clipboard -o -t image/png"
	refused("no key", "x", image)
	refused("no key, types", "x", listTypes)
	refused("a key in a paste", "\x1b[200~a\x16b\x1b[201~", image)
	refused("Ctrl+Shift+V", "\x1b[118;6u", image)
	refused("the release of the key", "\x1b[118;5:3u", image)
	refused("6 seconds after the key", ctrlV, "sleep 6; "+image)
	refused("text", ctrlV, "xclip -selection clipboard -o")
	refused("text by type", ctrlV, "xclip -selection clipboard -o -t UTF8_STRING")
	refused("the primary selection", ctrlV, "xclip -o -t image/png")
	raw := func(question string) string {
		return fmt.Sprintf(`exec 3<>/dev/tcp/127.0.0.1/3132; printf '%s\n' >&3; cat <&3 | grep -q ^ok`, question)
	}
	for _, question := range []string{"text", "image text/plain", "image image/png", "types image/png", "image image/svg+xml"} {
		refused("asked directly for "+question, ctrlV, raw(question))
	}
	d.own("text/plain", []byte("my-password"))
	refused("text on the clipboard", ctrlV, listTypes)
	refused("text as an image", ctrlV, image)
	// xclip hands its contents out under any name
	d.own("image/png", []byte("my-password under another name"))
	refused("text that claims to be an image", ctrlV, image)
	d.empty()
	refused("nothing on the clipboard", ctrlV, image)
	s.send("exit\r")
	s.last()
	log := b.proxyLog()
	for _, line := range []string{"held back clipboard: a question without the paste key", "held back clipboard: contents of the clipboard that are no image/png"} {
		if !strings.Contains(log, line) {
			t.Errorf("proxy.log has no line %q", line)
		}
	}
}

func TestClipboardHangs(t *testing.T) {
	b := newUser(t)
	bin := filepath.Join(b.home, "bin")
	b.write(filepath.Join(bin, "xclip"), "#!/bin/sh\nexec sleep 98765\n")
	b.must(os.Chmod(filepath.Join(bin, "xclip"), 0o755))
	b.setenv("PATH", bin+":"+os.Getenv("PATH"))
	b.setenv("DISPLAY", ":99")
	b.setenv("WAYLAND_DISPLAY")
	s := b.terminalShell()
	begin := time.Now()
	if got := s.after(ctrlV, listTypes+" || echo refused"); !strings.Contains(got, "refused") {
		t.Errorf("a program that hangs: %q", got)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := s.after("x", "echo still here"); got != "still here" {
		t.Errorf("%q", got)
	}
	s.send("exit\r")
	s.last()
	if out, err := exec.Command("pgrep", "-f", "sleep 98765").Output(); err == nil {
		t.Errorf("the program is left: %s", out)
	}
}

func TestClipboardOff(t *testing.T) {
	b := newUser(t)
	b.config("clipboard: false\n")
	d := newDisplay(b)
	d.own("image/png", pngOf(t, 8))
	s := b.terminalShell()
	if got := s.after(ctrlV, "command -v xclip || (exec 3<>/dev/tcp/127.0.0.1/3132) 2>/dev/null || echo nothing"); got != "nothing" {
		t.Errorf("%q", got)
	}
}

// imageAPI is a Messages API that notes the images it is sent.
type imageAPI struct{ images chan string }

func (a imageAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	var q struct {
		Model    string
		Stream   bool
		Messages []struct{ Content json.RawMessage }
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" || json.Unmarshal(body, &q) != nil {
		_, _ = io.WriteString(w, `{"input_tokens":1,"message":"hello","data":[]}`)
		return
	}
	for _, m := range q.Messages {
		var blocks []struct {
			Type   string
			Source struct{ Data string }
		}
		if json.Unmarshal(m.Content, &blocks) == nil {
			for _, b := range blocks {
				if b.Type == "image" {
					select {
					case a.images <- b.Source.Data:
					default:
					}
				}
			}
		}
	}
	reply(w, q.Model, q.Stream, map[string]any{"type": "text", "text": "All-is-seen"}, "end_turn")
}

// presses sends keys again and again, since a slow machine can miss the 5 seconds.
func (c *console) presses(keys string, every time.Duration) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			_, _ = io.WriteString(c.pty, keys)
			select {
			case <-time.After(every):
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// TestClipboardWithClaudeCode pastes an image with Ctrl+V into Claude Code.
func TestClipboardWithClaudeCode(t *testing.T) {
	b := newUser(t)
	d := newDisplay(b)
	d.own("image/png", pngOf(t, 32))
	api := imageAPI{make(chan string, 8)}
	c := b.withIDE(api)
	c.awaitText("Claude Code")
	c.awaitText("manual mode on")
	c.send("look at this: ")
	c.awaitText("look at this:")
	stop := c.presses(ctrlV, 8*time.Second)
	c.await(`Image\S* ?\S*#1`)
	stop()
	c.send("\r")
	c.awaitText("All-is-seen")
	select {
	case data := <-api.images:
		if len(data) < 100 {
			t.Errorf("an image of %d characters", len(data))
		}
	case <-time.After(bootDeadline):
		t.Error("the model saw no image")
	}
}
