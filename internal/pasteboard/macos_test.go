package pasteboard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func macOSProgram(t *testing.T) Program {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, osascript), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PATH": bin, "HOME": "/Users/me", "DISPLAY": ":0"}
	found := Find(Host{Home: "/Users/me", System: "darwin", Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	if len(found) != 1 || found[0].Path != filepath.Join(bin, osascript) {
		t.Fatalf("found %+v", found)
	}
	return found[0]
}

// The arguments that macOS's program is started with, as recorded.
func TestMacOSArguments(t *testing.T) {
	p := macOSProgram(t)
	if diff := cmp.Diff([]string{"-e", "clipboard info"}, p.List); diff != "" {
		t.Error(diff)
	}
	for kind, want := range map[string]string{
		"image/png": "the clipboard as «class PNGf»", "image/jpeg": "the clipboard as JPEG picture",
		"image/gif": "the clipboard as GIF picture", "image/bmp": "the clipboard as «class BMP »",
	} {
		if args, err := p.ask(kind); err != nil || len(args) != 2 || args[0] != "-e" || args[1] != want {
			t.Errorf("%s: %q, %v, want %q", kind, args, err, want)
		}
	}
	for _, kind := range []string{"text/plain", "", "image/webp", "string\" & (do shell script \"id\")"} {
		if args, err := p.ask(kind); err == nil {
			t.Errorf("%q is asked for by %q", kind, args)
		}
	}
}

func TestMacOSAnswers(t *testing.T) {
	p := macOSProgram(t)
	for out, want := range map[string]string{
		"«class PNGf», 5873, «class 8BPS», 46842, GIF picture, 4094, «class jp2 », 3412, JPEG picture, 4064, TIFF picture, 78386, «class BMP », 78274\n": "image/png\nimage/gif\nimage/jpeg\nimage/bmp",
		"Unicode text, 10, «class utf8», 5, string, 5\n": "",
		"\n": "",
	} {
		if got := string(p.types([]byte(out))); got != want {
			t.Errorf("%q: types %q, want %q", out, got, want)
		}
	}
	if got, err := p.contents([]byte("«data PNGf89504E470D0A1A0A00»\n")); err != nil || string(got) != "\x89PNG\r\n\x1a\n\x00" {
		t.Errorf("%q, %v", got, err)
	}
	for _, out := range []string{"", "text\n", "«data PNGf", "«data »", "«data PNGf8»", "«data PNGfxy»", "89504E47"} {
		if got, err := p.contents([]byte(out)); err == nil {
			t.Errorf("%q was read as %q", out, got)
		}
	}
	if got := p.most(MaxImage); got < len("«data PNGf»\n")+2*MaxImage {
		t.Errorf("an image of the largest size does not fit into %d bytes", got)
	}
}

// Other desktops' programs are passed on as they are.
func TestPlainForm(t *testing.T) {
	p := Program{Image: []string{"-t"}}
	args, err := p.ask("image/png")
	out, err2 := p.contents([]byte("«data PNGf00»"))
	if err != nil || err2 != nil || strings.Join(args, " ") != "-t image/png" || string(out) != "«data PNGf00»" || string(p.types([]byte("a\nb"))) != "a\nb" || p.most(7) != 7 {
		t.Errorf("%q, %v, %q, %v", args, err, out, err2)
	}
}
