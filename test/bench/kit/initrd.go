package kit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// makeInitrd packs the guest program and the modules that the stock kernel needs
// for disks, 9p and the network, with a list of them in the order of loading.
func makeInitrd(path, program, bench string) error {
	found, err := filepath.Glob(filepath.Join(bench, "debian/stock/lib/modules/*/modules.dep"))
	if err != nil || len(found) != 1 {
		return nil // the VM that needs it says so
	}
	dependencies, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	var a archive
	for _, name := range []string{"dev", "os", "modules"} {
		a.folder(name)
	}
	a.console()
	a.file("init", text)
	var order []string
	for _, name := range []string{"virtio_pci", "virtio_blk", "ext4", "crc32c_generic", "9pnet_virtio", "9p", "virtio_net"} {
		for _, file := range moduleOrder(string(dependencies), name) {
			if slices.Contains(order, filepath.Base(file)) {
				continue
			}
			content, err := os.ReadFile(filepath.Join(filepath.Dir(found[0]), file))
			if err != nil {
				return err
			}
			a.file("modules/"+filepath.Base(file), content)
			order = append(order, filepath.Base(file))
		}
	}
	a.file("modules/order", []byte(strings.Join(order, "\n")))
	return os.WriteFile(path, a.bytes(), 0o644)
}

// moduleOrder returns the paths of a module and of what it needs, from
// modules.dep, which lists the last needed first.
func moduleOrder(text, name string) []string {
	for line := range strings.Lines(text) {
		path, needs, ok := strings.Cut(line, ":")
		if ok && strings.TrimSuffix(filepath.Base(path), ".ko") == name {
			order := strings.Fields(needs)
			slices.Reverse(order)
			return append(order, path)
		}
	}
	return nil
}
