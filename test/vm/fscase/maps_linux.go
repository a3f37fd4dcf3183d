package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"aibox/test/vm/fscase/script"
)

func mapProbes() []probe {
	return []probe{
		{"mapped writes are read", mappedWrites},
		{"writes are seen in a mapping", writesMapped},
		{"two mappings", twoMappings},
		{"private mapping", privateMapping},
		{"mapping of a read-only file", readOnlyMapping},
		{"mapping outlives its name", mappingOutlives},
	}
}

const mapSize = 64 << 10

// mapped makes a file of zeros and maps it.
func mapped(name string, protection, how int) (*os.File, []byte, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, err
	}
	if err := f.Truncate(mapSize); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	m, err := unix.Mmap(int(f.Fd()), 0, mapSize, protection, how)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("map: %s", script.Outcome("", err))
	}
	return f, m, nil
}

func shared(name string) (*os.File, []byte, error) {
	return mapped(name, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// mappedWrites leaves a file of which the host knows what it holds.
func mappedWrites() (string, error) {
	f, m, err := shared("file")
	if err != nil {
		return "", err
	}
	defer f.Close()
	want := pattern(7, mapSize)
	copy(m, want)
	got := make([]byte, mapSize)
	if _, err := f.ReadAt(got, 0); err != nil {
		return "", err
	}
	if !bytes.Equal(got, want) {
		return "", errors.New("pread does not see what was written to the mapping")
	}
	again, err := os.ReadFile("file")
	if err != nil || !bytes.Equal(again, want) {
		return "", fmt.Errorf("another open file does not see it: %w", err)
	}
	return "ok", errors.Join(unix.Msync(m, unix.MS_SYNC), unix.Munmap(m))
}

func writesMapped() (string, error) {
	f, m, err := shared("file")
	if err != nil {
		return "", err
	}
	defer f.Close()
	for i := range 20 {
		at, want := (i*7919)%(mapSize-100), pattern(uint64(i), 100)
		touched := m[at] // the page is there before the write
		if _, err := f.WriteAt(want, int64(at)); err != nil {
			return "", err
		}
		if !bytes.Equal(m[at:at+100], want) {
			return "", fmt.Errorf("write %d at %d is not seen in the mapping (%d before)", i, at, touched)
		}
	}
	return "ok", unix.Munmap(m)
}

func twoMappings() (string, error) {
	f, m, err := shared("file")
	if err != nil {
		return "", err
	}
	defer f.Close()
	g, n, err := shared("file")
	if err != nil {
		return "", err
	}
	defer g.Close()
	want := pattern(9, 5000)
	copy(m[3000:], want)
	if !bytes.Equal(n[3000:8000], want) {
		return "", errors.New("the second mapping does not see it")
	}
	return "ok", errors.Join(unix.Munmap(m), unix.Munmap(n))
}

func privateMapping() (string, error) {
	f, m, err := mapped("file", unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		return "", err
	}
	defer f.Close()
	copy(m, "private")
	got := make([]byte, 7)
	_, err = f.ReadAt(got, 0)
	return "ok", errors.Join(err, verdict("the file", string(got), "\x00\x00\x00\x00\x00\x00\x00"), unix.Munmap(m))
}

func readOnlyMapping() (string, error) {
	if err := os.WriteFile("file", pattern(3, 10000), 0o444); err != nil {
		return "", err
	}
	f, err := os.Open("file")
	if err != nil {
		return "", err
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, 10000, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return "", err
	}
	if !bytes.Equal(m, pattern(3, 10000)) {
		return "", errors.New("it shows something else")
	}
	_, err = unix.Mmap(int(f.Fd()), 0, 10000, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return "ok", verdict("map it writable", errorName(err), "EACCES")
}

// mappingOutlives leaves the file under another name for the host to read.
func mappingOutlives() (string, error) {
	f, m, err := shared("file")
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.Link("file", "kept"), os.Remove("file"), f.Close()); err != nil {
		return "", err
	}
	want := pattern(11, mapSize)
	copy(m, want)
	if err := errors.Join(unix.Msync(m, unix.MS_SYNC), unix.Munmap(m)); err != nil {
		return "", err
	}
	got, err := os.ReadFile("kept")
	return "ok", errors.Join(err, verdict("the other name shows it", bytes.Equal(got, want), true))
}
