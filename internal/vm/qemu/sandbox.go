package qemu

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"aibox/internal/jail/bwrap"
)

// nixStore holds a program together with all it needs, where it is used.
const nixStore = "/nix/store"

// firmware are the files that a microvm loads before the kernel.
func firmware() []string { return []string{"qboot.rom", "bios-microvm.bin"} }

// sandbox returns what QEMU sees, without its arguments: its program, the
// libraries that the loader lists, the firmware, and one device or one module
// for the accelerator. Nothing of it is writable.
func sandbox(ctx context.Context, program string, kvm bool) (bwrap.Sandbox, error) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return bwrap.Sandbox{}, fmt.Errorf("find qemu: %w", err)
	}
	s := bwrap.Sandbox{Program: real, Held: []bwrap.Bind{{Source: real, Dest: real}}}
	if kvm {
		s.Binds = append(s.Binds, bwrap.Bind{Source: kvmPath, Dest: kvmPath, Access: bwrap.Device})
	}
	if strings.HasPrefix(real, nixStore+"/") {
		s.Held = []bwrap.Bind{{Source: nixStore, Dest: nixStore}}
		return s, nil
	}
	libraries, path, err := bwrap.Libraries(ctx, real)
	if err != nil {
		return bwrap.Sandbox{}, err
	}
	s.Binds = append(s.Binds, libraries...)
	s.LibraryPath = path
	s.Binds = append(s.Binds, firmwareBinds(real)...)
	if !kvm {
		if err := addModule(ctx, &s, real); err != nil {
			return bwrap.Sandbox{}, err
		}
	}
	return s, nil
}

// firmwareBinds binds the firmware from where QEMU looks for it: share/ beside
// the folder of its program. A file that is missing shows in QEMU's own error.
func firmwareBinds(program string) (binds []bwrap.Bind) {
	share := filepath.Join(filepath.Dir(filepath.Dir(program)), "share")
	for _, folder := range []string{"qemu", "seabios", "qemu-firmware"} {
		for _, name := range firmware() {
			path := filepath.Join(share, folder, name)
			if source, err := filepath.EvalSymlinks(path); err == nil {
				binds = append(binds, bwrap.Bind{Source: source, Dest: path})
			}
		}
	}
	return binds
}

// tcgModule is the software emulator where the distribution keeps it apart.
const tcgModule = "accel-tcg-x86_64.so"

// addModule binds the emulator's module, with the libraries that it alone needs.
// Where none is found the emulator is part of the program.
func addModule(ctx context.Context, s *bwrap.Sandbox, program string) error {
	for _, folder := range moduleFolders(filepath.Dir(filepath.Dir(program)), s.LibraryPath) {
		// QEMU knows the folder by its real name, not by way of a linked /lib.
		module, err := filepath.EvalSymlinks(filepath.Join(folder, tcgModule))
		if err != nil {
			continue
		}
		binds, path, err := bwrap.LibrariesOf(ctx, program, module)
		if err != nil {
			return err
		}
		s.Binds, s.LibraryPath = merge(s.Binds, binds), mergePath(s.LibraryPath, path, filepath.Dir(module))
		return nil
	}
	return nil
}

// moduleFolders are where distributions put QEMU's modules.
func moduleFolders(prefix string, libraries []string) (folders []string) {
	for _, l := range append([]string{filepath.Join(prefix, "lib"), filepath.Join(prefix, "lib64")}, libraries...) {
		folders = append(folders, filepath.Join(l, "qemu"), filepath.Join(prefix, l, "qemu"))
	}
	return folders
}

// merge appends the binds whose destination is new.
func merge(to, from []bwrap.Bind) []bwrap.Bind {
	seen := map[string]bool{}
	for _, b := range to {
		seen[b.Dest] = true
	}
	for _, b := range from {
		if !seen[b.Dest] {
			to = append(to, b)
		}
	}
	return to
}

// mergePath appends the folders that are new but the module's own, in which the
// loader has nothing to look for.
func mergePath(to, from []string, module string) []string {
	seen := map[string]bool{module: true}
	for _, p := range to {
		seen[p] = true
	}
	for _, p := range from {
		if !seen[p] {
			to = append(to, p)
		}
	}
	return to
}
