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
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"aibox/test/proclist"
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
	for i, canary := range append([]string{control}, canaries...) {
		if place := w.searchMemory(s, canary); (place != "") != (i == 0) {
			w.t.Errorf("canary %d (0 is the search's own) in the VM's whole memory: %q", i, place)
		}
	}
	arguments := ""
	for _, canary := range append([]string{control}, canaries...) {
		arguments += " " + hex.EncodeToString([]byte(canary))
	}
	found := s.must(asRoot("exec python3 /project/search.py" + arguments)) // after the host's search, which would find this one
	for _, place := range []string{"/home/user/control\n", "/environ\n", "/mem\n"} {
		if !strings.Contains(found, place) {
			w.t.Errorf("the search in the VM does not find its own canary in %q, but in\n%s", place, found)
		}
	}
	for line := range strings.Lines(found) {
		if !strings.HasPrefix(line, "0 ") {
			w.t.Errorf("canary %s", line)
		}
	}
}

func (w *gitWorld) writeProject(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.project, name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// searchScript prints for each place where it finds one of the texts the text's
// number and the place. They are given in hex, so as not to be on a command line.
const searchScript = `
import os, sys
needles = [bytes.fromhex(a) for a in sys.argv[1:]]
longest = max(map(len, needles))
def search(place, f, left=1 << 62):
    tail, found = b"", set()
    while left > 0:
        b = f.read(min(left, 4 << 20))
        if not b: break
        whole = tail + b
        found.update(i for i, n in enumerate(needles) if n in whole)
        tail, left = b[-longest:], left - len(b)
    for i in sorted(found): print(i, place)
for top in ["/home", "/project", "/tmp", "/run", "/dev/shm", "/usr/local", "/var", "/etc", "/root"]:
    for folder, folders, files in os.walk(top):
        for name in files:
            path = os.path.join(folder, name)
            try:
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb", 0) as f:
                        search(path, f)
            except OSError: pass
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid(): continue
    for name in ["environ", "cmdline"]:
        try:
            with open(f"/proc/{pid}/{name}", "rb", 0) as f:
                search(f"/proc/{pid}/{name}", f)
        except OSError: pass
    try: regions = open(f"/proc/{pid}/maps").read().splitlines(); mem = open(f"/proc/{pid}/mem", "rb", 0)
    except OSError: continue
    for r in regions:
        span, mode = r.split()[:2]
        if "rw" not in mode: continue
        start, end = (int(x, 16) for x in span.split("-"))
        try:
            mem.seek(start)
            search(f"/proc/{pid}/mem", mem, end - start)
        except OSError: pass
`

// searchMemory looks for a text in the memory that QEMU gives the VM: a file of
// QEMU's, which the user above its namespaces can open. It returns where it is.
func (w *gitWorld) searchMemory(s *shell, needle string) string {
	w.t.Helper()
	for _, p := range proclist.Below(w.t, s.cmd.Process.Pid) {
		links, _ := filepath.Glob("/proc/" + strconv.Itoa(p.PID) + "/fd/*")
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
