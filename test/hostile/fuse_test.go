//go:build hostile

package hostile

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aibox/test/proclist"
)

// Opcodes of FUSE.
const (
	fuseLookup   = 1
	fuseForget   = 2
	fuseSetattr  = 4
	fuseReadlink = 5
	fuseSymlink  = 6
	fuseMknod    = 8
	fuseMkdir    = 9
	fuseUnlink   = 10
	fuseLink     = 13
	fuseOpen     = 14
	fuseRead     = 15
	fuseWrite    = 16
	fuseSetxattr = 21
	fuseInit     = 26
	fuseReaddir  = 28
	fuseCreate   = 35
	fuseForgets  = 42
	fuseRename   = 45
	fuseCopy     = 47
)

const rootNode = 1

func text(parts ...string) []byte { return []byte(strings.Join(parts, "\x00") + "\x00") }

// begin agrees on the protocol and looks the shares up: that is the control.
func (k *kernel) begin() (project, readOnly uint64) {
	k.t.Helper()
	if _, err := k.call(fuseInit, 0, words(uint32(7), uint32(38), uint32(1<<17), uint32(0xffffffff&^(1<<30)), make([]byte, 48))); err != nil {
		k.t.Fatalf("control: begin: %v", err)
	}
	project, readOnly = k.must(rootNode, "project"), k.must(rootNode, "m0")
	if got, err := k.read(k.must(project, "file")); err != nil || got != "in the project" {
		k.t.Fatalf("control: read the project's file: %q, %v", got, err)
	}
	return project, readOnly
}

func (k *kernel) lookup(parent uint64, name string) (uint64, error) {
	k.t.Helper()
	out, err := k.call(fuseLookup, parent, text(name))
	if err != nil || len(out) < 8 {
		return 0, errors.Join(err, unix.ENOENT)
	}
	return binary.LittleEndian.Uint64(out), nil
}

func (k *kernel) must(parent uint64, name string) uint64 {
	k.t.Helper()
	node, err := k.lookup(parent, name)
	if err != nil {
		k.t.Fatalf("control: look up %s: %v", name, err)
	}
	return node
}

func (k *kernel) open(node uint64, flags uint32) (uint64, error) {
	k.t.Helper()
	out, err := k.call(fuseOpen, node, words(flags, uint32(0)))
	if err != nil || len(out) < 8 {
		return 0, errors.Join(err, unix.EIO)
	}
	return binary.LittleEndian.Uint64(out), nil
}

func (k *kernel) read(node uint64) (string, error) {
	k.t.Helper()
	fh, err := k.open(node, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	out, err := k.call(fuseRead, node, readBody(fh, 4096))
	return string(out), err
}

func readBody(fh uint64, size uint32) []byte {
	return words(fh, uint64(0), size, uint32(0), uint64(0), uint32(0), uint32(0))
}

// rawAttack runs with a file server of its own, which may die of it.
func rawAttack(t *testing.T, name string, do func(k *kernel, project, readOnly uint64)) {
	t.Helper()
	attack(t, "FUSE: "+name, byVirtiofsd, true, func(t *testing.T) {
		k := newKernel(t)
		project, readOnly := k.begin()
		do(k, project, readOnly)
		k.untouched()
	})
}

func TestRawFUSENames(t *testing.T) {
	up := strings.Repeat("../", 40)
	for what, name := range sorted(map[string]func(k *kernel) string{
		"dots and a slash":             func(*kernel) string { return "../secret" },
		"many dots and the whole path": func(k *kernel) string { return up + k.secret[1:] },
		"an absolute path":             func(k *kernel) string { return k.secret },
		"the process's own root":       func(k *kernel) string { return "/proc/self/root" + k.secret },
		"the machine's users":          func(*kernel) string { return "/etc/passwd" },
	}) {
		rawAttack(t, "look up "+what, func(k *kernel, project, _ uint64) {
			for _, parent := range []uint64{rootNode, project} {
				if node, err := k.lookup(parent, name(k)); err == nil {
					got, _ := k.read(node)
					k.t.Errorf("%q below node %d: %q", name(k), parent, tail(got, 100))
				}
			}
		})
	}
	rawAttack(t, "kill the thread that serves by a name without an end", func(k *kernel, project, _ uint64) {
		_, _ = k.call(fuseLookup, project, []byte("without an end"))
		select {
		case <-k.server.Done():
			if err := k.server.Err(); err == nil || !strings.Contains(err.Error(), "panicked") {
				k.t.Errorf("the server ended by %v", err)
			}
		case <-time.After(10 * time.Second):
			if _, err := k.lookup(project, "file"); err != nil {
				k.t.Errorf("the server hangs: %v", err)
			}
		}
	})
	rawAttack(t, "climb by .. to the user's files", func(k *kernel, project, _ uint64) {
		for node, n := project, 0; n < 40; n++ {
			for _, name := range []string{"home", "root", "tmp", "etc", "var", "secret", filepath.Base(k.dir)} {
				if _, err := k.lookup(node, name); err == nil {
					k.t.Errorf("after %d steps there is %s", n, name)
				}
			}
			above, err := k.lookup(node, "..")
			if err != nil {
				return
			}
			node = above
		}
	})
	for _, path := range []string{"proc/self/mem", "proc/self/task/self/mem", "proc/self/oom_score_adj", "proc/self/coredump_filter", "proc/sys/kernel/core_pattern", "usr/libexec/virtiofsd", "proc/self/exe"} {
		rawAttack(t, "write the server's own "+path, func(k *kernel, project, _ uint64) {
			for _, name := range []string{"/" + path, strings.Repeat("../", 40) + path} {
				node, err := k.lookup(project, name)
				if err != nil {
					continue
				}
				if fh, err := k.open(node, unix.O_RDWR); err == nil {
					k.t.Errorf("%s opens for writing as %d", name, fh)
				}
			}
		})
	}
	rawAttack(t, "open a link as a file", func(k *kernel, project, _ uint64) {
		if _, err := k.call(fuseSymlink, project, text("link", k.secret)); err != nil {
			k.t.Fatalf("control: make a link: %v", err)
		}
		node := k.must(project, "link")
		if got, err := k.read(node); err == nil {
			k.t.Errorf("it reads %q", got)
		}
		if fh, err := k.open(node, unix.O_RDWR); err == nil {
			k.t.Errorf("it opens as %d", fh)
		}
	})
	rawAttack(t, "swap a folder that is known for a link", func(k *kernel, project, _ uint64) {
		if _, err := k.call(fuseMkdir, project, words(uint32(0o755), uint32(0), []byte("dir\x00"))); err != nil {
			k.t.Fatalf("control: make a folder: %v", err)
		}
		node := k.must(project, "dir")
		if err := os.Remove(filepath.Join(k.dir, "project", "dir")); err != nil {
			k.t.Fatal(err)
		}
		if err := os.Symlink(k.dir, filepath.Join(k.dir, "project", "dir")); err != nil {
			k.t.Fatal(err)
		}
		if _, err := k.lookup(node, "secret"); err == nil {
			k.t.Error("the old node leads out")
		}
		if again, err := k.lookup(project, "dir"); err == nil {
			if _, err := k.lookup(again, "secret"); err == nil {
				k.t.Error("the link leads out")
			}
		}
	})
}

func TestRawFUSERights(t *testing.T) {
	for what, do := range sorted(map[string]func(k *kernel, project, m0 uint64) error{
		"make a file in a read-only share": func(k *kernel, _, m0 uint64) error {
			_, err := k.call(fuseCreate, m0, words(uint32(unix.O_RDWR|unix.O_CREAT), uint32(0o644), uint32(0), uint32(0), []byte("new\x00")))
			return err
		},
		"write a file of a read-only share": func(k *kernel, _, m0 uint64) error {
			_, err := k.open(k.must(m0, "tool"), unix.O_RDWR)
			return err
		},
		"write a file of a read-only share that is open for reading": func(k *kernel, _, m0 uint64) error {
			tool := k.must(m0, "tool")
			fh, err := k.open(tool, unix.O_RDONLY)
			if err != nil {
				k.t.Fatal(err)
			}
			_, err = k.call(fuseWrite, tool, words(fh, uint64(0), uint32(5), uint32(0), uint64(0), uint32(unix.O_RDWR), uint32(0), []byte("owned")))
			return err
		},
		"cut off a file of a read-only share":  func(k *kernel, _, m0 uint64) error { return k.setattr(k.must(m0, "tool"), 1<<3, 0) },
		"change the mode in a read-only share": func(k *kernel, _, m0 uint64) error { return k.setattr(k.must(m0, "tool"), 1, 0o777) },
		"remove a file of a read-only share": func(k *kernel, _, m0 uint64) error {
			_, err := k.call(fuseUnlink, m0, text("tool"))
			return err
		},
		"rename out of a read-only share": func(k *kernel, project, m0 uint64) error {
			_, err := k.call(fuseRename, m0, words(project, uint32(0), uint32(0), text("tool", "tool")))
			return err
		},
		"rename by a path": func(k *kernel, project, _ uint64) error {
			_, err := k.call(fuseRename, project, words(project, uint32(0), uint32(0), text("../m0/tool", "tool")))
			return err
		},
		"link a file of a read-only share": func(k *kernel, project, m0 uint64) error {
			_, err := k.call(fuseLink, project, words(k.must(m0, "tool"), text("linked")))
			return err
		},
		"copy into a read-only share": func(k *kernel, project, m0 uint64) error {
			file, tool := k.must(project, "file"), k.must(m0, "tool")
			from, _ := k.open(file, unix.O_RDONLY)
			to, _ := k.open(tool, unix.O_RDONLY)
			_, err := k.call(fuseCopy, file, words(from, uint64(0), tool, to, uint64(0), uint64(5), uint64(0)))
			return err
		},
		"make a device node": func(k *kernel, project, _ uint64) error {
			_, err := k.call(fuseMknod, project, words(uint32(unix.S_IFCHR|0o666), uint32(1<<8|3), uint32(0), uint32(0), text("null")))
			return err
		},
		"make a setuid file": func(k *kernel, project, _ uint64) error {
			_, err := k.call(fuseMknod, project, words(uint32(unix.S_IFREG|0o4755), uint32(0), uint32(0), uint32(0), text("suid")))
			return err
		},
		"make a file setuid": func(k *kernel, project, _ uint64) error { return k.setattr(k.must(project, "file"), 1, 0o6755) },
		"make a file by a path": func(k *kernel, project, _ uint64) error {
			_, err := k.call(fuseCreate, project, words(uint32(unix.O_RDWR|unix.O_CREAT), uint32(0o644), uint32(0), uint32(0), text("../planted")))
			return err
		},
		"give a file capabilities": func(k *kernel, project, _ uint64) error {
			value := []byte{1, 0, 0, 2, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
			_, err := k.call(fuseSetxattr, k.must(project, "file"), words(uint32(len(value)), uint32(0), text("security.capability"), value))
			return err
		},
	}) {
		rawAttack(t, what, func(k *kernel, project, m0 uint64) {
			if err := do(k, project, m0); err == nil {
				k.t.Error("it worked")
			} else {
				k.t.Log(err)
			}
		})
	}
}

// setattr changes what valid names: 1 the mode, 8 the size, to value.
func (k *kernel) setattr(node uint64, valid, value uint32) error {
	k.t.Helper()
	body := make([]byte, 88)
	binary.LittleEndian.PutUint32(body, valid)
	if valid == 1 {
		binary.LittleEndian.PutUint32(body[68:], value)
	}
	_, err := k.call(fuseSetattr, node, body)
	return err
}

func TestRawFUSENumbers(t *testing.T) {
	rawAttack(t, "nodes that were never given out", func(k *kernel, _, _ uint64) {
		for _, node := range []uint64{0, 100, 1 << 20, 1 << 32, 1 << 63, 1<<64 - 1} {
			for _, name := range []string{"secret", ".", "file"} {
				if got, err := k.lookup(node, name); err == nil {
					k.t.Errorf("node %d has %s: %d", node, name, got)
				}
			}
			if fh, err := k.open(node, unix.O_RDONLY); err == nil {
				k.t.Errorf("node %d opens as %d", node, fh)
			}
		}
	})
	rawAttack(t, "open files that were never given out", func(k *kernel, project, _ uint64) {
		for fh := uint64(100); fh < 400; fh++ {
			if got, err := k.call(fuseRead, project, readBody(fh, 4096)); err == nil {
				k.t.Errorf("%d reads %q", fh, tail(string(got), 100))
			}
		}
	})
	for what, do := range sorted(map[string]func(k *kernel, project uint64){
		"a read of 4 GiB": func(k *kernel, p uint64) {
			n := k.must(p, "file")
			fh, _ := k.open(n, 0)
			_, _ = k.call(fuseRead, n, readBody(fh, 0xffffffff))
		},
		"a folder read of 4 GiB": func(k *kernel, p uint64) { _, _ = k.call(fuseReaddir, p, readBody(0, 0xffffffff)) },
		"a write of more than came": func(k *kernel, p uint64) {
			n := k.must(p, "file")
			fh, _ := k.open(n, unix.O_RDWR)
			_, _ = k.call(fuseWrite, n, words(fh, uint64(0), uint32(1<<30), make([]byte, 20)))
		},
		"a length of 4 GiB":     func(k *kernel, p uint64) { _, _ = k.callAs(fuseLookup, p, 0xffffffff, text("file")) },
		"a length of 0":         func(k *kernel, p uint64) { _, _ = k.callAs(fuseLookup, p, 0, text("file")) },
		"a name without an end": func(k *kernel, p uint64) { _, _ = k.call(fuseLookup, p, []byte("file")) },
		"no name":               func(k *kernel, p uint64) { _, _ = k.call(fuseLookup, p, nil) },
		"an unknown request":    func(k *kernel, p uint64) { _, _ = k.call(4711, p, make([]byte, 100)) },
		"a second beginning":    func(k *kernel, _ uint64) { _, _ = k.call(fuseInit, 0, words(uint32(7), uint32(1), make([]byte, 56))) },
		"4 billion forgets": func(k *kernel, _ uint64) {
			_, _ = k.call(fuseForgets, 0, words(uint32(0xffffffff), uint32(0), uint64(1), uint64(1<<63)))
		},
		"the root forgotten": func(k *kernel, _ uint64) { _, _ = k.call(fuseForget, rootNode, words(uint64(1<<64-1))) },
		"a node forgotten twice": func(k *kernel, p uint64) {
			for range 2 {
				_, _ = k.call(fuseForget, p, words(uint64(1<<64-1)))
			}
			_, _ = k.lookup(p, "file")
		},
		"a link read as a folder": func(k *kernel, p uint64) { _, _ = k.call(fuseReadlink, p, nil) },
	}) {
		rawAttack(t, what, func(k *kernel, project, _ uint64) { do(k, project); k.small() })
	}
	for what, chain := range sorted(map[string][]descriptor{
		"a chain that is a circle":         {{requestAt, 40, 1, 1}, {answerAt, 4096, 3, 0}},
		"a chain out of the table":         {{requestAt, 40, 1, 60000}},
		"a request outside of the memory":  {{1 << 40, 4096, 1, 1}, {answerAt, 4096, 2, 0}},
		"an answer outside of the memory":  {{requestAt, 64, 1, 1}, {1 << 40, 4096, 2, 0}},
		"an answer over the memory's end":  {{requestAt, 64, 1, 1}, {memorySize - 8, 4096, 2, 0}},
		"a request of 4 GiB":               {{requestAt, 0xffffffff, 1, 1}, {answerAt, 0xffffffff, 2, 0}},
		"an answer before the request":     {{answerAt, 4096, 3, 1}, {requestAt, 64, 0, 0}},
		"an indirect table nobody offered": {{requestAt, 64, 4, 0}},
		"no answer at all":                 {{requestAt, 64, 0, 0}},
		"an empty request":                 {{requestAt, 0, 1, 1}, {answerAt, 4096, 2, 0}},
	}) {
		rawAttack(t, what, func(k *kernel, _, _ uint64) {
			k.chain(chain...)
			k.small()
		})
	}
}

// small fails the test if the server took much memory for what it was sent.
func (k *kernel) small() {
	k.t.Helper()
	for _, pid := range k.server.Processes() {
		for _, p := range proclist.Below(k.t, pid) {
			if peak := proclist.PeakMemory(p.PID); peak > 256<<20 {
				k.t.Errorf("%s took %d MiB", p.Name, peak>>20)
			}
		}
	}
	select {
	case <-k.server.Done():
		k.t.Logf("the server ended: %v", k.server.Err())
	default:
	}
}
