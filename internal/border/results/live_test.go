package results

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"aibox/internal/wire"
)

// breaking is a connection that reads text and then fails, not as by an end.
type breaking struct {
	net.Conn
	text io.Reader
}

func (b breaking) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func TestLive(t *testing.T) {
	for name, c := range map[string]struct {
		sent, want string
		room       int
		broken     bool
		err        string
	}{
		"nothing":    {"", "", 100, false, ""},
		"all":        {"0123456789", "0123456789", 100, false, ""},
		"over":       {"0123456789x", "0123456789", 100, false, "more than the limit"},
		"cut":        {"01234", "01234", 100, true, "unexpected EOF"},
		"full disk":  {"0123456789", "012", 3, false, "no space left"},
		"full, over": {"0123456789" + strings.Repeat("x", 100), "012", 3, false, "no space left"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			l := &Live{To: io.MultiWriter(&fullDisk{room: c.room}, &b), Limit: 10}
			vm, host := net.Pipe()
			if c.broken {
				l.Serve(breaking{text: strings.NewReader(c.sent)})
			} else {
				go func() {
					_, _ = io.WriteString(vm, c.sent)
					vm.Close()
				}()
				l.Serve(host)
			}
			host.Close()
			size, err := l.End()
			if c.room == 100 && (b.String() != c.want || size != int64(b.Len())) {
				t.Errorf("%d bytes, %q, want %q", size, b.String(), c.want)
			}
			if full := (*StoreError)(nil); errors.As(err, &full) != (c.room == 3) {
				t.Errorf("error %v", err)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

// The first stream counts alone, and none after the end.
func TestLiveIsServedOnce(t *testing.T) {
	var b bytes.Buffer
	l := &Live{To: &b, Limit: wire.MaxClaudeLog}
	l.Serve(breaking{text: strings.NewReader("first")})
	l.Serve(breaking{text: strings.NewReader("second")})
	late := &Live{To: &b, Limit: wire.MaxClaudeLog}
	if size, err := late.End(); size != 0 || err != nil {
		t.Errorf("without a stream: %d bytes, %v", size, err)
	}
	late.Serve(breaking{text: strings.NewReader("late")})
	if b.String() != "first" {
		t.Errorf("stored %q", b.String())
	}
}
