package bwrap

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"aibox/internal/fault"
	"aibox/internal/proc"
)

// Libraries asks the loader of program, a dynamically linked ELF file, which
// libraries it would load, and returns read-only binds for them and for the
// loader itself, each at the path where the loader looks for it, and the
// folders for LibraryPath. The program does not run. A static program has none.
func Libraries(ctx context.Context, program string) ([]Bind, []string, error) {
	loader, err := interpreter(program)
	if err != nil || loader == "" {
		return nil, nil, err
	}
	out, err := proc.Output(ctx, proc.Cmd{Name: "the loader", Path: loader, Args: []string{"--list", program}})
	if err != nil {
		return nil, nil, fmt.Errorf("list libraries of %s: %w", program, err)
	}
	return libraryBinds(append(parseList(out), loader), filepath.EvalSymlinks)
}

// LibrariesOf is Libraries for a module that the loader of program loads into it.
func LibrariesOf(ctx context.Context, program, module string) ([]Bind, []string, error) {
	loader, err := interpreter(program)
	if err != nil || loader == "" {
		return nil, nil, err
	}
	out, err := proc.Output(ctx, proc.Cmd{Name: "the loader", Path: loader, Args: []string{"--list", module}})
	if err != nil {
		return nil, nil, fmt.Errorf("list libraries of %s: %w", module, err)
	}
	return libraryBinds(append(parseList(out), module), filepath.EvalSymlinks)
}

// interpreter returns the loader that an ELF file names, "" for none.
func interpreter(program string) (string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", fault.New(fault.Machine, "install its package again; a script around a program cannot be confined",
			"%s is no program of this system: %w", program, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz > 4096 {
			continue
		}
		b := make([]byte, p.Filesz)
		if _, err := p.ReadAt(b, 0); err != nil {
			return "", fmt.Errorf("read program %s: %w", program, err)
		}
		return string(bytes.TrimRight(b, "\x00")), nil
	}
	return "", nil
}

// parseList reads the lines of the loader's list: "NAME => PATH (ADDRESS)" or "PATH
// (ADDRESS)". A line without an absolute path names what the kernel provides.
func parseList(out []byte) (paths []string) {
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if i := strings.LastIndex(line, " (0x"); i >= 0 {
			line = line[:i]
		}
		if name, path, ok := strings.Cut(line, " => "); ok {
			// The loader is listed as the path in the program => the path it has.
			if filepath.IsAbs(name) {
				paths = append(paths, name)
			}
			line = path
		}
		if filepath.IsAbs(line) {
			paths = append(paths, line)
		}
	}
	return paths
}

func libraryBinds(paths []string, resolve func(string) (string, error)) (binds []Bind, folders []string, err error) {
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		source, err := resolve(p)
		if err != nil {
			return nil, nil, fmt.Errorf("find library %s: %w", p, err)
		}
		binds = append(binds, Bind{Source: source, Dest: p})
		folders = append(folders, filepath.Dir(p))
	}
	slices.Sort(folders)
	return binds, slices.Compact(folders), nil
}
