//go:build vm

package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// tool runs one of the programs for file systems.
func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	path := "/usr/sbin/" + name
	if _, err := os.Stat(path); err != nil {
		path = "/sbin/" + name
	}
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// onSmallDisk returns a command that runs a shell script whose ~/.aibox is a
// disk of the given size, as the same ordinary user: one namespace mounts it
// as its root, a second one within takes that back.
func (b *box) onSmallDisk(size, script string) *exec.Cmd {
	b.t.Helper()
	root := filepath.Join(b.home, ".aibox")
	b.must(os.Mkdir(root, 0o700))
	const outer = `mount -t tmpfs -o size="$1",mode=700 none "$2" && exec unshare --user --map-user="$3" --map-group="$4" sh -c "$5" "$6" "$7"`
	return exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", outer, "sh", size, root,
		strconv.Itoa(os.Getuid()), strconv.Itoa(os.Getgid()), script, readEnvironment().aibox, b.image)
}

// Shell code to fill the disk up to some KiB, and to free it.
func fill(leave int) string {
	return `cat /dev/zero > ~/.aibox/fill 2>/dev/null; truncate -s -` + strconv.Itoa(leave) + `K ~/.aibox/fill; `
}

func TestFullDiskAtTheStart(t *testing.T) {
	for leave, text := range map[int]string{
		0:   `no space left on device`, // for the note of the path
		4:   `no space left on device`, // for the config
		512: `no space left on device`, // for anything else
	} {
		b := newUser(t)
		before := b.users()
		screen, code := b.onTerminal(b.onSmallDisk("2M", fill(leave)+`"$0" run --image "$1"`)).last()
		want{4, text, "free some space: df -h "}.check(t, screen, code)
		b.same(before)
	}
}

// A disk that gets full while the state disk is formatted must not leave one
// that is refused for ever.
func TestFullDiskAtTheFirstBoot(t *testing.T) {
	b := newUser(t)
	c := b.onTerminal(b.onSmallDisk("24M", fill(1100)+`"$0" run --shell --image "$1"; echo code=$?; rm ~/.aibox/fill; exec "$0" run --shell --image "$1"`))
	c.await(`aibox:.* warning: the disk with "[^\n]*" is full[^\n]*\n[^\n]*hint:[^\n]* free some space: df -h `)
	c.await(`the VM gave up: aibox-init: state disk: [^\n]*\n`)
	c.await(`code=1\r\n`)
	c.await(`\$ `)
	c.send("touch /usr/local/x && exit 5\r")
	if _, code := c.last(); code != 5 {
		t.Errorf("after the disk was freed: exit code %d", code)
	}
}

func TestDiskThatGetsFull(t *testing.T) {
	b := newUser(t)
	c := b.onTerminal(b.onSmallDisk("8M", `exec "$0" run --shell --image "$1"`))
	c.await(`\$ `)
	c.send("head -c 20M /dev/urandom > /usr/local/big; sync -f /usr/local; head -c 9M /dev/zero > ~/big; echo home=$?\r")
	c.await(`No space left on device\r\nhome=1\r\n`)
	c.send("cat precious; echo; echo more > more; dmesg >/dev/null 2>&1; exit 3\r")
	screen, code := c.last()
	if code != 3 || !strings.Contains(screen, "work of a day") {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(screen, "is full, so what the VM wrote last may be lost") || !strings.Contains(screen, "free some space: df -h ") {
		t.Error("the user is not told that the disk is full")
	}
	if text, err := os.ReadFile(filepath.Join(b.project, "more")); err != nil || string(text) != "more\n" {
		t.Errorf("the project, on another disk, holds %q, %v", text, err)
	}
	noneLeft(t)
}
