package pasteboard

import (
	"bufio"
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes a copy of this binary the helper.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Command {
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

// desktop is a display server of the test's own, without a screen.
type desktop struct {
	t    *testing.T
	vars map[string]string
	copy []string // command that takes what becomes the clipboard; the type follows
}

func (d *desktop) lookup(name string) (string, bool) { v, ok := d.vars[name]; return v, ok }

func (d *desktop) env() (list []string) {
	for name, value := range d.vars {
		list = append(list, name+"="+value)
	}
	return append(list, "HOME="+d.vars["XDG_RUNTIME_DIR"])
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("found no %s, which this test wants", p)
		}
	}
}

// run starts a program that lives as long as the test.
func (d *desktop) run(cmd *exec.Cmd) {
	d.t.Helper()
	if cmd.Env == nil {
		cmd.Env = d.env()
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// xvfb is an X11 desktop.
func xvfb(t *testing.T) *desktop {
	need(t, "Xvfb", "xclip")
	d := &desktop{t: t, vars: map[string]string{"PATH": os.Getenv("PATH"), "XDG_RUNTIME_DIR": t.TempDir()}}
	d.copy = []string{"xclip", "-selection", "clipboard", "-quiet", "-i", "-t"}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// Without -noreset it begins anew when its last client ends, and drops who connects then.
	cmd := exec.Command("Xvfb", "-noreset", "-displayfd", "3", "-screen", "0", "64x64x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{w}
	d.run(cmd)
	w.Close()
	number, err := bufio.NewReader(r).ReadString('\n') // once it serves
	if err != nil {
		t.Fatal(err)
	}
	d.vars["DISPLAY"] = ":" + strings.TrimSpace(number)
	return d
}

// sway is a Wayland desktop.
func sway(t *testing.T) *desktop {
	need(t, "sway", "wl-copy", "wl-paste")
	runtimeDir, err := os.MkdirTemp("", "wayland") // a short name, as a socket's has to be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtimeDir) })
	d := &desktop{t: t, vars: map[string]string{"PATH": os.Getenv("PATH"), "XDG_RUNTIME_DIR": runtimeDir}}
	d.copy = []string{"wl-copy", "--foreground", "--type"}
	config := filepath.Join(d.vars["XDG_RUNTIME_DIR"], "config")
	if err := os.WriteFile(config, []byte("xwayland disable\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sway", "-c", config)
	cmd.Env = append(d.env(), "WLR_BACKENDS=headless", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman")
	if os.Geteuid() == 0 { // which sway refuses to be
		const nobody = 65534
		if err := os.Chown(d.vars["XDG_RUNTIME_DIR"], nobody, nobody); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	d.run(cmd)
	socket := ""
	until(t, "a Wayland socket", func() bool {
		list, _ := filepath.Glob(filepath.Join(d.vars["XDG_RUNTIME_DIR"], "wayland-*"))
		list = slices.DeleteFunc(list, func(s string) bool { return strings.HasSuffix(s, ".lock") })
		if len(list) > 0 {
			socket = filepath.Base(list[0])
		}
		return socket != ""
	})
	d.vars["WAYLAND_DISPLAY"] = socket
	return d
}

func until(t *testing.T, what string, ready func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ready() {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// own puts contents on the clipboard.
func (d *desktop) own(kind string, contents []byte) {
	d.t.Helper()
	file := filepath.Join(d.t.TempDir(), "contents")
	if err := os.WriteFile(file, contents, 0o600); err != nil {
		d.t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		d.t.Fatal(err)
	}
	defer in.Close()
	cmd := exec.Command(d.copy[0], append(d.copy[1:], kind)...)
	cmd.Stdin = in
	d.run(cmd)
}

func (d *desktop) start() *Board {
	d.t.Helper()
	programs := Find(Host{Home: "/nonexistent", Lookup: d.lookup})
	if len(programs) != 1 {
		d.t.Fatalf("programs %v, want one", programs)
	}
	b, err := Start(programs, false)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(b.Kill)
	return b
}

func pngOf(t *testing.T, side int) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = byte(noise.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t *testing.T) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 20, 20))
	m.SetGray(3, 3, color.Gray{200})
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestXClipUnderXvfb(t *testing.T)      { testImages(t, xvfb) }
func TestWlPasteUnderWayland(t *testing.T) { testImages(t, sway) }

func testImages(t *testing.T, make func(*testing.T) *desktop) {
	d := make(t)
	b := d.start()
	if types, err := b.Types(t.Context()); err == nil && len(types) > 0 {
		t.Errorf("an empty clipboard has the types %q", types)
	}
	large := pngOf(t, 2300)
	if len(large) < 20<<20 {
		t.Fatalf("the large image has %d bytes", len(large))
	}
	for _, c := range []struct {
		kind     string
		contents []byte
	}{{"image/png", pngOf(t, 10)}, {"image/jpeg", jpegOf(t)}, {"image/png", large}} {
		d.own(c.kind, c.contents)
		var got []byte
		until(t, c.kind, func() bool {
			if types, err := b.Types(t.Context()); err != nil || !slices.Contains(types, c.kind) {
				return false
			}
			got, _ = b.Image(t.Context(), c.kind)
			return len(got) == len(c.contents)
		})
		if !bytes.Equal(got, c.contents) {
			t.Errorf("%s of %d bytes came in another form", c.kind, len(c.contents))
		}
	}
	d.own("text/plain", []byte("secret"))
	until(t, "text", func() bool {
		types, err := b.Types(t.Context())
		return err == nil && slices.Contains(types, "text/plain") && !slices.Contains(types, "image/png")
	})
}
