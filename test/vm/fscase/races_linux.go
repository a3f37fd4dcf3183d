package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

func raceProbes() []probe {
	return []probe{
		{"one of many makes a file", oneMakes},
		{"one of many makes a folder", oneMakesFolder},
		{"appends of many are kept", appends},
		{"a file renamed over is whole", renamedOver},
		{"a folder that many fill and empty", fillAndEmpty},
	}
}

const racers = 8

// each runs do at once for all racers.
func each(do func(i int) error) error {
	errs := make([]error, racers)
	var all sync.WaitGroup
	for i := range racers {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// winners wants make to work once for each name and to say else that it exists.
func winners(make func(name string) error) (string, error) {
	const names = 40
	var won atomic.Int32
	err := each(func(int) error {
		for n := range names {
			switch err := make(fmt.Sprint("name", n)); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, fs.ErrExist):
				return err
			}
		}
		return nil
	})
	return "ok", errors.Join(err, verdict("made", int(won.Load()), names))
}

func oneMakes() (string, error) {
	return winners(func(name string) error {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			err = f.Close()
		}
		return err
	})
}

func oneMakesFolder() (string, error) {
	return winners(func(name string) error { return os.Mkdir(name, 0o755) })
}

func appends() (string, error) {
	const lines = 100
	err := each(func(i int) error {
		f, err := os.OpenFile("log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		for n := range lines {
			if _, err := fmt.Fprintf(f, "%d %d %s\n", i, n, strings.Repeat("x", n)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile("log")
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		var i, n int
		var rest string
		if _, err := fmt.Sscanf(line+" ", "%d %d %s", &i, &n, &rest); n > 0 && (err != nil || len(rest) != n) {
			return "", fmt.Errorf("a torn line %q", line)
		}
		seen[line] = true
	}
	return "ok", errors.Join(err, verdict("lines", len(seen), racers*lines))
}

// renamedOver reads a file that is replaced all the time, as an editor replaces it.
func renamedOver() (string, error) {
	content := func(n int) []byte { return bytes.Repeat([]byte{byte('a' + n%26)}, 3000+n*13) }
	if err := os.WriteFile("file", content(0), 0o644); err != nil {
		return "", err
	}
	var done atomic.Bool
	err := each(func(i int) error {
		if i == 0 {
			defer done.Store(true)
			for n := range 100 {
				if err := errors.Join(os.WriteFile("new", content(n), 0o644), os.Rename("new", "file")); err != nil {
					return err
				}
			}
			return nil
		}
		for !done.Load() {
			b, err := os.ReadFile("file")
			if err != nil {
				return err
			}
			if n := (len(b) - 3000) / 13; len(b) < 3000 || !bytes.Equal(b, content(n)) {
				return fmt.Errorf("%d bytes that were never the file", len(b))
			}
		}
		return nil
	})
	return "ok", err
}

func fillAndEmpty() (string, error) {
	err := each(func(i int) error {
		for n := range 30 {
			name := fmt.Sprintf("d/%d.%d", i, n)
			if err := os.Mkdir("d", 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			f, err := os.Create(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue // another one removed the folder
			}
			if err != nil {
				return err
			}
			if err := errors.Join(f.Close(), os.Remove(name)); err != nil {
				return err
			}
			_ = os.Remove("d") // works when it is empty
		}
		return nil
	})
	entries, _ := os.ReadDir(".")
	for _, e := range entries {
		err = errors.Join(err, os.Remove(e.Name()))
	}
	return "ok", err
}
