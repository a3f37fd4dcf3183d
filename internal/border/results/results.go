package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"aibox/internal/wire"
)

// Files take the contents. A nil one drops them.
type Files struct{ Transcript, ClaudeLog, Changes io.Writer }

// Start is the commit that the task began at.
type Start struct{ OID string }

// Collected says what came, in the order of the tar. An error of Read does not
// make it wrong: it is what was stored up to there.
type Collected struct {
	// Sizes are the bytes that were stored of each file.
	Sizes map[string]int64
	// Bundle is the bundle's branch; nil if none came whole and good.
	Bundle *Bundle
	// Claim is what the VM says; nil if the tar ended before.
	Claim *Claim
}

// Read reads the tar to its end. A tar that is wrong in any way is an error, at
// the first byte that is wrong; what came before stays in Collected.
func Read(r io.Reader, start Start, files Files) (Collected, error) {
	t := &reader{r: r, start: start, files: files, got: Collected{Sizes: map[string]int64{}}}
	err := t.all()
	return t.got, err
}

type reader struct {
	r     io.Reader
	start Start
	files Files
	got   Collected
	last  int // place of the last name in the order
}

// order returns a name's place, 0 for one that is not known.
func order(name string) int {
	for i, known := range []string{wire.TranscriptFile, wire.ClaudeLogFile, wire.ChangesFile, wire.ResultFile} {
		if name == known {
			return i + 1
		}
	}
	return 0
}

func (t *reader) all() error {
	for {
		var block [wire.ResultBlock]byte
		if _, err := io.ReadFull(t.r, block[:]); err != nil {
			return fmt.Errorf("the results end too early: %w", cut(err))
		}
		if block == [wire.ResultBlock]byte{} {
			return t.end()
		}
		name, size, err := parseHeader(block)
		if err != nil {
			return err
		}
		if t.got.Claim != nil {
			return fmt.Errorf("the results go on after %s", wire.ResultFile)
		}
		if order(name) <= t.last {
			return fmt.Errorf("the results hold %s twice or too late", name)
		}
		t.last = order(name)
		if err := t.file(name, size); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// parseHeader returns what the one valid header of a name and size stands for.
func parseHeader(block [wire.ResultBlock]byte) (name string, size int64, err error) {
	text, _, _ := bytes.Cut(block[:100], []byte{0})
	name = string(text)
	limit := sizeLimit(name)
	if limit == 0 {
		return "", 0, fmt.Errorf("the results hold a file %.40q, which is none of theirs", name)
	}
	size, err = strconv.ParseInt(strings.TrimRight(string(block[124:136]), "\x00"), 8, 64)
	if err != nil || size < 0 || block != wire.ResultHeader(name, size) {
		return "", 0, fmt.Errorf("the results' header of %s is not that of a plain file", name)
	}
	if size > limit {
		return "", 0, fmt.Errorf("%s has %d bytes, over the limit of %d", name, size, limit)
	}
	return name, size, nil
}

func (t *reader) file(name string, size int64) error {
	body := io.LimitReader(t.r, size)
	switch name {
	case wire.TranscriptFile:
		if err := t.store(name, t.files.Transcript, body, size); err != nil {
			return err
		}
	case wire.ClaudeLogFile:
		if err := t.store(name, t.files.ClaudeLog, body, size); err != nil {
			return err
		}
	case wire.ChangesFile:
		b, err := checkBundle(body, size, t.start.OID, t.counting(name, t.files.Changes))
		if err != nil {
			return err
		}
		t.got.Bundle = &b
	case wire.ResultFile:
		text, err := io.ReadAll(body)
		if err != nil || int64(len(text)) != size {
			return fmt.Errorf("it ends too early: %w", cut(err))
		}
		claim, err := parseClaim(text)
		if err != nil {
			return err
		}
		t.got.Claim = &claim
	}
	padding := make([]byte, wire.ResultPadding(size))
	if _, err := io.ReadFull(t.r, padding); err != nil {
		return fmt.Errorf("it ends too early: %w", cut(err))
	}
	if len(bytes.Trim(padding, "\x00")) > 0 {
		return errors.New("something is hidden behind it")
	}
	return nil
}

func (t *reader) store(name string, w io.Writer, body io.Reader, size int64) error {
	n, err := io.Copy(t.counting(name, w), body)
	if err != nil {
		return err
	}
	if n != size {
		return fmt.Errorf("it ends too early: %w", io.ErrUnexpectedEOF)
	}
	return nil
}

// end reads the second block of zeros, after which nothing may come.
func (t *reader) end() error {
	if t.got.Claim == nil {
		return fmt.Errorf("the results lack %s", wire.ResultFile)
	}
	var block [wire.ResultBlock + 1]byte
	n, err := io.ReadFull(t.r, block[:])
	if n != wire.ResultBlock || !errors.Is(err, io.ErrUnexpectedEOF) || block != [wire.ResultBlock + 1]byte{} {
		return errors.New("the results do not end as they should")
	}
	return nil
}

// counting notes in Sizes how much of a file was stored.
func (t *reader) counting(name string, w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	t.got.Sizes[name] = 0
	return counter{w, func(n int) { t.got.Sizes[name] += int64(n) }}
}

type counter struct {
	w   io.Writer
	add func(int)
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.add(n)
	if err != nil {
		err = &StoreError{err}
	}
	return n, err
}

// StoreError says that the host could not store what came, such as on a full disk.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return "cannot store it: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// cut makes every end an early one.
func cut(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
