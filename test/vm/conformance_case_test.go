//go:build vm

package vm

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// result is fscase's line for a case.
type result struct {
	Name, Want, Got string
	Took            time.Duration
}

// compare runs a command of fscase on both folders. The reference must answer as
// every local disk does, or the case is wrong; the share as well, but for the
// known differences, which in turn must be there.
func (c conformance) compare(name, disk, share string) {
	c.Helper()
	c.folder(name)
	local, served := c.results(disk), c.results(share)
	if len(local) == 0 || len(served) != len(local) {
		c.Fatalf("%d results of the share, %d of the disk", len(served), len(local))
	}
	known := differences()
	for i, r := range local {
		got := served[i]
		if r.Got != r.Want || got.Name != r.Name {
			c.Errorf("a local disk: %s: %s, want %s", r.Name, r.Got, r.Want)
		}
		d, listed := known[r.Name]
		want := r.Want
		if expected := d.of(c.kind); listed && expected != "" {
			want = expected
		}
		if got.Got != want && want != anything {
			c.Errorf("%s: %s: %s, want %s", c.kind, r.Name, got.Got, want)
		}
		if got.Took > 5*time.Second {
			c.Logf("%s took %v, on the disk %v", r.Name, got.Took, r.Took)
		}
	}
}

func (c conformance) results(command string) (list []result) {
	c.Helper()
	out, code := c.vm.doWithin(slowDeadline, command)
	lines := bufio.NewScanner(strings.NewReader(out))
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			c.Errorf("%s: %s", command, lines.Text())
			continue
		}
		list = append(list, r)
	}
	if code != 0 {
		c.Errorf("%s: exit code %d", command, code)
	}
	return list
}

func (c conformance) cases() {
	c.vm.must("mkdir -p " + reference + "/readonly/dir && echo file > " + reference + "/readonly/file")
	c.vm.must(asRoot("mkdir /run/readonly && mount --bind /home/*/.cache/reference/readonly /run/readonly && mount -o remount,bind,ro /run/readonly"))
	c.compare("cases", fscase+" cases "+reference+"/cases /run/readonly /tmp", fscase+" cases /project/cases /opt/tools /tmp")
	c.hostEmpty("cases")
}

func (c conformance) probes() {
	c.compare("probes", fscase+" probes "+reference+"/probes", fscase+" probes /project/probes")

	names := c.place("names of every byte")
	for b := 1; b < 256; b++ {
		name := "x" + string([]byte{byte(b)})
		if text, err := os.ReadFile(filepath.Join(names, name)); b != '/' && (err != nil || string(text) != name) {
			c.Errorf("the host's %q holds %q, %v", name, text, err)
		}
	}
	fi, err := os.Stat(filepath.Join(c.place("5 GiB file with a hole"), "sparse"))
	if err != nil {
		c.Fatal(err)
	}
	if used := fi.Sys().(*syscall.Stat_t).Blocks * 512; fi.Size() != 5<<30 || used > 1<<20 {
		c.Errorf("the host's sparse file has %d bytes and uses %d", fi.Size(), used)
	}
	for _, file := range []string{"mapped writes are read/file", "mapping outlives its name/kept", "writes are seen in a mapping/file", "1 MiB in one call/file", "appends of many are kept/log"} {
		if d := differences()[filepath.Dir(file)]; d.of(c.kind) != "" {
			continue
		}
		c.hostHas("probes", file)
	}
	if err := os.RemoveAll(filepath.Join(c.project, "probes")); err != nil {
		c.Error(err)
	}
}

// place is the host's folder of a probe.
func (c conformance) place(probe string) string {
	c.Helper()
	found, err := filepath.Glob(filepath.Join(c.project, "probes", "probe?? "+probe))
	if err != nil || len(found) != 1 {
		c.Fatalf("%s: %v, %v", probe, found, err)
	}
	return found[0]
}

// hostHas compares the host's file with the one that the VM sees on the share.
func (c conformance) hostHas(folder, file string) {
	c.Helper()
	text, err := os.ReadFile(filepath.Join(c.place(filepath.Dir(file)), filepath.Base(file)))
	if err != nil {
		c.Error(err)
		return
	}
	sum := strings.Fields(c.vm.must("cat '/project/" + folder + "'/*'" + file + "' | sha256sum"))[0]
	if want := fmt.Sprintf("%x", sha256.Sum256(text)); sum != want {
		c.Errorf("%s: the VM's %s is not the host's", file, sum)
	}
}

func (c conformance) hostEmpty(folder string) {
	c.Helper()
	entries, err := os.ReadDir(filepath.Join(c.project, folder))
	if err != nil || len(entries) != 0 {
		c.Errorf("left on the host: %v, %v", entries, err)
	}
}

// verify compares what the VM meant to write with what the host has.
func (c conformance) verify() {
	c.vm.must("mkdir " + reference + "/verify /project/verify && " + fscase + " verify " + reference + "/verify")
	for line := range strings.Lines(c.slow(fscase + " verify /project/verify")) {
		name, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		text, err := os.ReadFile(filepath.Join(c.project, "verify", name))
		if got := fmt.Sprintf("%x", sha256.Sum256(text)); err != nil || got != sum {
			c.Errorf("%s: the host has %s of %d bytes, %v, want %s", name, got, len(text), err, sum)
		}
	}
}

// drain lists a folder that the host filled while it removes files.
func (c conformance) drain() {
	const files = 20001
	dir := filepath.Join(c.project, "drain")
	if err := os.Mkdir(dir, 0o755); err != nil {
		c.Fatal(err)
	}
	for n := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file %06d", n)), nil, 0o644); err != nil {
			c.Fatal(err)
		}
	}
	start := time.Now()
	c.slow(fscase + " drain /project/drain " + fmt.Sprint(files))
	c.Logf("a folder of %d files listed and a tenth removed in %.1fs", files, time.Since(start).Seconds())
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != files-files/10 {
		c.Errorf("the host has %d files, %v", len(entries), err)
	}
	if err := os.RemoveAll(dir); err != nil {
		c.Error(err)
	}
	if out, code := c.vm.do("ls /project/drain"); code == 0 {
		c.Errorf("the VM still lists %d bytes of it", len(out))
	}
}

func (c conformance) tree() {
	files := 20000
	if c.kind == "9p" && emulated() {
		files = 2000 // each call of 9p takes several turns of processes, an emulated one milliseconds
	}
	c.folder("tree")
	c.Logf("%d files on the disk: %s", files, c.slow(fmt.Sprintf("%s tree %s/tree %d", fscase, reference, files)))
	c.Logf("%d files on the share: %s", files, c.slow(fmt.Sprintf("%s tree /project/tree %d", fscase, files)))
	c.hostEmpty("tree")
}

// emulated tells whether VMs run without the processor's help.
func emulated() bool {
	f, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err == nil {
		f.Close()
	}
	return err != nil
}

func (d difference) of(kind string) string {
	if kind == "9p" {
		return d.ninep
	}
	return d.virtiofs
}
