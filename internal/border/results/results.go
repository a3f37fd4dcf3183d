package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"aibox/internal/wire"
)

// Start is the commit that the task began at.
type Start struct{ OID string }

// Collected says what came, in the order of the tar. An error of Read does not
// make it wrong: it is what was stored up to there.
type Collected struct {
	// Changes is how many bytes of the bundle were stored.
	Changes int64
	// Bundle is the bundle's branch; nil if none came whole and good.
	Bundle *Bundle
	// Claim is what the VM says; nil if the tar ended before.
	Claim *Claim
}

// Read reads the tar to its end and stores the bundle in changes. A tar that is
// wrong in any way is an error, at the first byte that is wrong; what came
// before stays in Collected. Where the bundle cannot be stored, a *StoreError,
// the rest is read all the same.
func Read(r io.Reader, start Start, changes io.Writer) (Collected, error) {
	t := &reader{r: r, start: start, changes: changes}
	err := t.all()
	return t.got, errors.Join(err, t.full)
}

type reader struct {
	r       io.Reader
	start   Start
	changes io.Writer
	got     Collected
	full    error // why the bundle could not be stored
	last    int   // place of the last name in the order
}

// order returns a name's place, 0 for one that is not known.
func order(name string) int {
	for i, known := range []string{wire.ChangesFile, wire.ResultFile} {
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
	case wire.ChangesFile:
		if err := t.bundle(body, size); err != nil {
			return err
		}
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

func (t *reader) bundle(body io.Reader, size int64) error {
	b, err := checkBundle(body, size, t.start.OID, counter{t.changes, func(n int) { t.got.Changes += int64(n) }})
	if full := (*StoreError)(nil); errors.As(err, &full) {
		t.full = fmt.Errorf("%s: %w", wire.ChangesFile, err)
		_, err = io.Copy(io.Discard, body) // what ends early is found behind it
		return err
	}
	if err == nil {
		t.got.Bundle = &b
	}
	return err
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

// counter counts what is stored, and tells an error of storing apart.
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

// Error is without the file's path: who reads it knows which it is.
func (e *StoreError) Error() string {
	if p := (*fs.PathError)(nil); errors.As(e.Err, &p) {
		return p.Err.Error()
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// cut makes every end an early one.
func cut(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
