package clip

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"
)

// host answers each question with what answers holds, else with "no".
func host(answers map[string]string) dialer {
	return func() (net.Conn, error) {
		guest, host := net.Pipe()
		go func() {
			defer host.Close()
			line, _ := bufio.NewReader(host).ReadString('\n')
			if a, ok := answers[strings.TrimSuffix(line, "\n")]; ok {
				fmt.Fprintf(host, "ok %d\n%s", len(a), a)
				return
			}
			fmt.Fprint(host, "no\n")
		}()
		return guest, nil
	}
}

func TestCommandLines(t *testing.T) {
	full := map[string]string{"types": "image/png\nimage/jpeg", "image image/png": "PNG\x00\n", "image image/jpeg": "JPEG"}
	const list = "image/png\nimage/jpeg\n"
	for _, c := range []struct {
		line, want string // "" means an error
		answers    map[string]string
	}{
		{"xclip -selection clipboard -o -t TARGETS", list, full},
		{"xclip -selection clipboard -o -t image/png", "PNG\x00\n", full},
		{"/usr/bin/xclip -sel clip -t image/jpeg -out", "JPEG", full},
		{"xclip -selection c -target image/png -o", "PNG\x00\n", full},
		{"wl-paste --list-types", list, full},
		{"wl-paste -l", list, full},
		{"wl-paste --type image/png", "PNG\x00\n", full},
		{"wl-paste --type=image/jpeg --no-newline", "JPEG", full},
		{"wl-paste -n -t image", "PNG\x00\n", full},
		{"xclip -selection clipboard -o -t image/gif", "", full},
		{"xclip -selection clipboard -o", "", full},
		{"xclip -o -t image/png", "", full}, // the primary selection
		{"xclip -selection clipboard -o -t text/plain", "", full},
		{"xclip -selection clipboard -t image/png -i file", "", full},
		{"xclip", "", full},
		{"xclip -selection", "", full},
		{"wl-paste", "", full},
		{"wl-paste --no-newline", "", full},
		{"wl-paste --primary -t image/png", "", full},
		{"wl-paste --watch cat", "", full},
		{"wl-paste -t", "", full},
		{"wl-paste -l", "", nil},
		{"wl-paste -t image/png", "", map[string]string{"types": "image/png"}},
	} {
		var out bytes.Buffer
		err := run(strings.Fields(c.line), &out, host(c.answers))
		if out.String() != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", c.line, out.String(), err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"xclip": true, "/usr/bin/wl-paste": true, "/sbin/init": false, "wl-copy": false, "": false} {
		if Is(name) != want {
			t.Errorf("Is(%q) = %v", name, !want)
		}
	}
}
