package relay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// connect asks the proxy at the other end of stream for target and returns
// the stream behind its answer.
func connect(stream Conn, target string) (Conn, error) {
	_ = stream.SetDeadline(time.Now().Add(connectTimeout))
	if _, err := fmt.Fprintf(stream, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return nil, fmt.Errorf("ask for %s: %w", target, err)
	}
	buffered := bufio.NewReaderSize(stream, maxAnswer)
	if err := readAnswer(buffered); err != nil {
		return nil, fmt.Errorf("ask for %s: %w", target, err)
	}
	_ = stream.SetDeadline(time.Time{})
	return answered{Conn: stream, r: buffered}, nil
}

// readAnswer reads the head of an answer and nothing behind it.
func readAnswer(r *bufio.Reader) error {
	left := maxAnswer
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return errors.New("the proxy's answer is too long")
		}
		if err != nil {
			return fmt.Errorf("read the proxy's answer: %w", err)
		}
		if left -= len(line); left < 0 {
			return errors.New("the proxy's answer is too long")
		}
		text := strings.TrimRight(string(line), "\r\n")
		if first && !accepted(text) {
			return fmt.Errorf("the proxy refused: %q", text)
		}
		if text == "" && !first {
			return nil
		}
	}
}

func accepted(status string) bool {
	version, rest, ok := strings.Cut(status, " ")
	return ok && (version == "HTTP/1.1" || version == "HTTP/1.0") && (rest == "200" || strings.HasPrefix(rest, "200 "))
}

// answered reads on where the answer ended.
type answered struct {
	Conn
	r io.Reader
}

func (a answered) Read(b []byte) (int, error) { return a.r.Read(b) }

// Abort resets what is below.
func (a answered) Abort() { reset(a.Conn) }
