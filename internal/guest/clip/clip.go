package clip

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"aibox/internal/wire"
)

// Limits.
const (
	maxHead   = 64        // of an answer, in bytes
	maxTypes  = 4 << 10   // list of types, in bytes
	maxImage  = 256 << 20 // more than the host sends
	waitLimit = time.Minute
)

// errNothing is no image on the clipboard, or no paste key.
var errNothing = errors.New("no image on the clipboard, or Ctrl+V was not pressed in the last 5 seconds")

// Main does what the command line args, with the program's name, asks for, and
// returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	if err := run(args, stdout, dial); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", args[0], err)
		return 1
	}
	return 0
}

// dialer opens one connection to the host's service.
type dialer func() (net.Conn, error)

func dial() (net.Conn, error) {
	return net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", wire.ClipboardPort), waitLimit)
}

func run(args []string, out io.Writer, dial dialer) error {
	w, err := parse(args)
	if err != nil {
		return err
	}
	// The host names an image only after it was asked for the types.
	var list strings.Builder
	if err := ask(dial, "types", &list, maxTypes); err != nil {
		return err
	}
	types := strings.Split(list.String(), "\n")
	if w.list {
		_, err := fmt.Fprintln(out, list.String())
		return err
	}
	if w.kind == "image" {
		w.kind = types[0]
	}
	if !slices.Contains(types, w.kind) {
		return fmt.Errorf("the clipboard holds no %s", w.kind)
	}
	return ask(dial, "image "+w.kind, out, maxImage)
}

// ask puts one question and copies the answer to out.
func ask(dial dialer, question string, out io.Writer, limit int64) error {
	conn, err := dial()
	if err != nil {
		return errors.New("the clipboard is not shared with this VM")
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(waitLimit))
	if _, err := io.WriteString(conn, question+"\n"); err != nil {
		return fmt.Errorf("ask for the clipboard: %w", err)
	}
	answer := bufio.NewReaderSize(conn, maxHead)
	head, err := answer.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("read the clipboard: %w", err)
	}
	size, ok := strings.CutPrefix(string(head[:len(head)-1]), "ok ")
	if !ok {
		return errNothing
	}
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n < 0 || n > limit {
		return fmt.Errorf("read the clipboard: a size of %q", size)
	}
	if _, err := io.CopyN(out, answer, n); err != nil {
		return fmt.Errorf("read the clipboard: %w", err)
	}
	return nil
}
