//go:build vm

package vm

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// basicAuth is how the login looks on the wire, but for what may differ at its end.
func basicAuth(password string) string {
	text := base64.StdEncoding.EncodeToString([]byte("alice:" + password))
	return text[:len(text)-4]
}

// searchVM wants none of the texts in the files that the VM can write, in the
// environment and memory of its processes, and in the whole of its memory as
// the host's kernel has it. Free memory still holds what was there. A canary of
// its own, which is in all these places, shows that the search finds things.
func (w *gitWorld) searchVM(s *shell, canaries ...string) {
	w.t.Helper()
	control := "control-" + rand.Text()
	s.must("echo " + control + " > ~/control; CONTROL=" + control + " setsid sleep 600 >/dev/null 2>&1 &")
	if out, code := s.do("env | grep -e SSH_AUTH_SOCK -e GIT_ASKPASS -e '^SSL_'"); code == 0 {
		w.t.Errorf("the VM's environment has %s", out)
	}
	w.writeProject("search.py", searchScript)
	search := func(needle string) (places, whole string) {
		whole = w.searchMemory(s, needle)
		reversed := []byte(needle)
		slices.Reverse(reversed)
		return s.must(asRoot("python3 /project/search.py " + hex.EncodeToString(reversed))), whole
	}
	places, whole := search(control)
	for _, want := range []string{"/control", "/environ", "/mem"} {
		if !strings.Contains(places, want) {
			w.t.Fatalf("the search in the VM did not find its own canary in %s, but in\n%s", want, places)
		}
	}
	if whole == "" {
		w.t.Fatal("the search of the VM's whole memory did not find its own canary")
	}
	for _, c := range canaries {
		if places, whole := search(c); places != "" || whole != "" {
			w.t.Errorf("%.12s… is in the VM: %s %s", c, places, whole)
		}
	}
}

func (w *gitWorld) writeProject(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.project, name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// searchScript prints each place where it finds the bytes given in hex and
// backwards: so that the VM's memory does not get them from the search.
const searchScript = `
import os, re, sys
reversed_needle = bytes.fromhex(sys.argv[1])
pattern = re.compile(b"".join(b"[\\x%02x]" % c for c in reversed(reversed_needle)))
def holds(f, size=None):
    tail, n = b"", len(reversed_needle)
    while size is None or size > 0:
        b = f.read(1 << 20 if size is None else min(size, 1 << 20))
        if not b: return False
        if pattern.search(tail + b): return True
        tail = b[-n:]
        if size is not None: size -= len(b)
for top in ["/home", "/project", "/tmp", "/run", "/dev/shm", "/usr/local", "/var", "/etc", "/root"]:
    for folder, folders, files in os.walk(top):
        for name in files:
            path = os.path.join(folder, name)
            try:
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb", 0) as f:
                        if holds(f): print(path)
            except OSError: pass
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid() or int(pid) == os.getppid(): continue
    for name in ["environ", "cmdline"]:
        try:
            with open(f"/proc/{pid}/{name}", "rb", 0) as f:
                if holds(f): print(f"/proc/{pid}/{name}")
        except OSError: pass
    try: regions = open(f"/proc/{pid}/maps").read().splitlines(); mem = open(f"/proc/{pid}/mem", "rb", 0)
    except OSError: continue
    for r in regions:
        span, mode = r.split()[:2]
        if "rw" not in mode: continue
        start, end = (int(x, 16) for x in span.split("-"))
        try:
            mem.seek(start)
            if holds(mem, end - start): print(f"/proc/{pid}/mem", r); break
        except OSError: pass
`

// searchMemory looks for a text in the memory that QEMU gives the VM: a file of
// QEMU's, which the user above its namespaces can open. It returns where it is.
func (w *gitWorld) searchMemory(s *shell, needle string) string {
	w.t.Helper()
	for _, p := range descendants(w.t, s.cmd.Process.Pid) {
		links, _ := filepath.Glob("/proc/" + strconv.Itoa(p.pid) + "/fd/*")
		for _, link := range links {
			if target, _ := os.Readlink(link); strings.HasPrefix(target, "/memfd:memory-backend") {
				place, err := searchFile(link, []byte(needle))
				if err != nil {
					w.t.Fatalf("search the VM's memory: %v", err)
				}
				return place
			}
		}
	}
	w.t.Fatal("no process of the run has a file of the VM's memory")
	return ""
}

// searchFile returns where a file has the needle, "" for nowhere. Holes are skipped.
func searchFile(path string, needle []byte) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	chunk := make([]byte, 4<<20)
	for at := int64(0); ; {
		at, err = unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return "", nil // nothing but a hole is left
		}
		if err != nil {
			return "", err
		}
		n, err := f.ReadAt(chunk, at)
		if i := bytes.Index(chunk[:n], needle); i >= 0 {
			return "offset " + strconv.FormatInt(at+int64(i), 16), nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if n < len(chunk) {
			return "", nil
		}
		at += int64(n - len(needle))
	}
}
