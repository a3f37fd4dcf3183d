//go:build hostile

package hostile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/run"
)

func (x *scene) disks(t *testing.T) {
	// Each writes a block back as it was read; on the state disk it works.
	const again = "N=$(($(cat /sys/block/$D/size)/8-1)) && dd if=/dev/$D of=/tmp/block bs=4096 skip=$N count=1 && dd if=/tmp/block of=/dev/$D bs=4096 seek=$N count=1 conv=notrunc,fsync oflag=direct"
	for name, command := range sorted(map[string]string{
		"write the root disk":                      again,
		"write the root disk made writable before": "python3 -c \"import fcntl,os,struct; fcntl.ioctl(os.open('/dev/$D', os.O_RDONLY), 0x125d, struct.pack('i', 0))\" && " + again,
	}) {
		attack(t, "disks: "+name, "QEMU: read-only", true, func(t *testing.T) {
			x.vm.must(t, asRoot("D=vdb; "+command))
			x.vm.refused(t, "D=vda; "+command)
		})
	}
	for name, command := range sorted(map[string]string{
		"discard the root disk":                        "python3 -c \"import fcntl,os,struct; fcntl.ioctl(os.open('/dev/vda', os.O_RDWR), 0x1277, struct.pack('QQ', 0, 1 << 20))\"",
		"send a SCSI command to the host's root disk":  "/project/attacker vm scsi /dev/vda",
		"send a SCSI command to the host's state disk": "/project/attacker vm scsi /dev/vdb",
		"read behind the end of the state disk":        "test $(dd if=/dev/vdb bs=512 skip=$(cat /sys/block/vdb/size) count=1 | wc -c) -gt 0",
	}) {
		attack(t, "disks: "+name, "QEMU: raw disks", false, func(t *testing.T) { x.vm.refused(t, command) })
	}
	attack(t, "disks: a setuid program on the state disk", "nosuid", true, func(t *testing.T) {
		if got := x.vm.must(t, asRoot("id -u")); strings.TrimSpace(got) != "0" {
			t.Fatalf("control: the test image's setuid program gives %q", got)
		}
		x.vm.must(t, asRoot("cp /bin/bash /usr/local/rootsh && chmod 4755 /usr/local/rootsh"))
		if got, _ := x.vm.do(t, "/usr/local/rootsh -p -c 'id -u'"); strings.TrimSpace(got) == "0" {
			t.Error("the user became root")
		}
	})
	attack(t, "disks: a device node on the state disk", "nodev", true, func(t *testing.T) {
		x.vm.must(t, asRoot("head -c 1 /dev/vdb"))
		x.vm.must(t, asRoot("mknod -m 666 /usr/local/node b $(cat /sys/block/vdb/dev | tr : ' ')"))
		x.vm.refused(t, "head -c 1 /usr/local/node")
	})
}

// plantForTheNextRun leaves traps in what the VM may write.
func (x *scene) plantForTheNextRun(t *testing.T) {
	evil := "touch " + filepath.Join(x.outside, "executed")
	config := fmt.Sprintf("[core]\n\tfsmonitor = %s\n\tpager = %s\n\tsshCommand = %s\n\thooksPath = /project/hooks\n[include]\n\tpath = %s\n[alias]\n\tconfig = !%s\n[user]\n\tname = evil\\n\\u001b[2J\n", evil, evil, evil, x.secret, evil)
	if err := os.MkdirAll(filepath.Join(x.home, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"CLAUDE.md": "the user's", "settings.json": "{\"model\":\"opus\"}"} {
		if err := os.WriteFile(filepath.Join(x.home, ".claude", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	x.vm.must(t, "mkdir -p .git/objects .git/refs hooks && echo 'ref: refs/heads/main' > .git/HEAD && cat > .git/config <<'EOF'\n"+config+"EOF\n")
	x.vm.must(t, fmt.Sprintf("printf '#!/bin/sh\\n%s\\n' > git && chmod +x git && for h in post-checkout pre-commit; do cp git hooks/$h; done", evil))
	x.vm.must(t, fmt.Sprintf("rm -rf ~/.claude && ln -s %s ~/.claude; rm -f ~/.gitconfig; mkfifo ~/.gitconfig; ln -sfn %s ~/.profile-link; ln -sfn %s ~/.config", x.outside, x.secret, x.outside))
}

// nextRun starts the project again: nothing of what was planted may lead anywhere.
func (x *scene) nextRun(t *testing.T) {
	attackWithin(t, 2*bootDeadline, "next run: git's settings, links and FIFOs planted by the last one", "helpers, handles", false, func(t *testing.T) {
		s := x.start("echo started", func(r *run.Request) { r.TestOnlyHosts = scriptedNames() })
		out, code := s.wait(t)
		if code != 0 || !strings.Contains(out, "started") {
			t.Errorf("the next run: exit code %d, %q, %s", code, out, s.stderr.String())
		}
		clean(t, "stderr", s.stderr.String())
		entries, err := os.ReadDir(x.outside)
		if err != nil || len(entries) != 1 {
			t.Errorf("the folder outside holds %v, %v", entries, err)
		}
		if b, err := os.ReadFile(x.secret); string(b) != marker {
			t.Errorf("the user's file holds %q, %v", b, err)
		}
	})
}

// TestStateDisks starts VMs with state disks that an earlier VM damaged or forged.
func TestStateDisks(t *testing.T) {
	b := newBox(t)
	if _, code := b.start("dd if=/dev/urandom of=/usr/local/data bs=1M count=8 2>/dev/null; sync").wait(t); code != 0 {
		t.Fatal("the first run failed")
	}
	path := filepath.Join(b.state(), "state.ext4")
	good := filepath.Join(b.home, "good.ext4")
	copyDisk(t, path, good)
	seed := rand.New(rand.NewPCG(1, 2))
	for name, damage := range sorted(map[string]func(t *testing.T, f *os.File){
		"noise over the superblock":  func(t *testing.T, f *os.File) { noise(t, f, seed, 0, 64<<10) },
		"noise over the metadata":    func(t *testing.T, f *os.File) { noise(t, f, seed, 4096, 1<<20) },
		"a superblock of an exabyte": func(t *testing.T, f *os.File) { put(t, f, 1024+4, 0xff, 0xff, 0xff, 0xff) },
		"blocks of an odd size":      func(t *testing.T, f *os.File) { put(t, f, 1024+0x18, 60, 0, 0, 0) },
		"cut off in its middle":      func(t *testing.T, f *os.File) { size(t, f, 16<<20) },
		"three bytes over a sector":  func(t *testing.T, f *os.File) { size(t, f, 16<<20+3) },
	}) {
		attackWithin(t, 3*bootDeadline, "state disk: "+name, "the guest's kernel alone reads it", true, func(t *testing.T) {
			copyDisk(t, good, path)
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			damage(t, f)
			before := identity(t, f)
			s := b.start("echo booted")
			out, code := s.wait(t)
			clean(t, "stderr", s.stderr.String())
			booted := code == 0 && strings.Contains(out, "booted")
			if !booted && (code == 0 || !strings.Contains(s.stderr.String(), "aibox: ")) {
				t.Errorf("neither booted nor refused with a reason: %d, %q, %s", code, out, s.stderr.String())
			}
			if identity(t, f) != before {
				t.Error("the disk was formatted anew")
			}
			f.Close()
			t.Logf("booted: %v, %s", booted, tail(s.stderr.String(), 300))
		})
	}
	copyDisk(t, good, path)
	if out, code := b.start("stat -c %s /usr/local/data").wait(t); code != 0 || strings.TrimSpace(out) != fmt.Sprint(8<<20) {
		t.Errorf("control: the good disk: %d, %q", code, out)
	}
}

func copyDisk(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "--sparse=always", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
}

func noise(t *testing.T, f *os.File, r *rand.Rand, at int64, n int) {
	t.Helper()
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, f *os.File, at int64, b ...byte) {
	t.Helper()
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

func size(t *testing.T, f *os.File, n int64) {
	t.Helper()
	if err := f.Truncate(n); err != nil {
		t.Fatal(err)
	}
}

// identity is what formatting a disk would change, and repairing it would not.
func identity(t *testing.T, f *os.File) string {
	t.Helper()
	b := make([]byte, 16)
	n, _ := f.ReadAt(b, 1024+0x68)
	return string(b[:n])
}
