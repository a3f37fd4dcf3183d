//go:build hostile

package hostile

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"aibox/test/proclist"

	"github.com/google/go-cmp/cmp"
)

// killWindow is when after its start a run is killed: from the first helper to
// a session at work, under software emulation on a busy machine.
const killWindow = 12 * time.Second

// bootWindow is the part of it in which a VM boots.
const bootWindow = 5 * time.Second

// leftWithin is how long what a killed process leaves may live.
const leftWithin = time.Second

// endsWithin is how long aibox may take to end by itself after another one was killed.
const endsWithin = 20 * time.Second

// work writes to the state disk until it is killed.
const work = `n=0; while :; do n=$((n+1)); echo $n > /usr/local/counter.new && mv /usr/local/counter.new /usr/local/counter; sync; done`

// TestKills kills processes of a run at random moments. Each time nothing may
// be left, and each time the next run has to start.
func TestKills(t *testing.T) {
	kills, err := strconv.Atoi(os.Getenv("KILLS"))
	if err != nil {
		t.Fatalf("KILLS: %v", err)
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SEED"); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SEED: %v", err)
		}
	}
	fmt.Printf("kills: SEED=%d\n", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	b := newBox(t)
	if _, code := b.start("echo 0 > /usr/local/counter").wait(t); code != 0 {
		t.Fatal("the first run failed")
	}
	before := b.traces(t)
	for n := range kills {
		at := time.Duration(r.Int64N(int64(killWindow)))
		if n%2 == 0 { // more happens in the boot than in a session
			at = time.Duration(r.Int64N(int64(bootWindow)))
		}
		pick := r.IntN(1 << 20)
		var victim proclist.Process
		name := fmt.Sprintf("kill %d of %d, after %.1f s", n+1, kills, at.Seconds())
		attackWithin(t, 3*bootDeadline, name, "parent death, undo", false, func(t *testing.T) {
			victim = b.killOne(t, at, pick)
			t.Log(victim)
			b.nothingLeft(t)
			if after := b.traces(t); after != before {
				t.Errorf("traces before (-) and after (+):\n%s", cmp.Diff(before, after))
				before = after
			}
		})
		verdicts.rename(name, fmt.Sprintf("%s: %s", name, victim.Name))
	}
	attackWithin(t, 2*bootDeadline, "after all kills: the state disk", "ext4's journal", false, func(t *testing.T) {
		out, code := b.start("cat /usr/local/counter && echo works > /usr/local/after && cat /proc/mounts | grep /usr/local").wait(t)
		if code != 0 || strings.Contains(out, "ro,") {
			t.Errorf("exit code %d, %q", code, out)
		}
		if n, err := strconv.Atoi(strings.Fields(out + " x")[0]); err != nil || n < 0 {
			t.Errorf("the counter is %q", out)
		}
	})
}

// killOne starts a run, waits, and kills one of its processes.
func (b *box) killOne(t *testing.T, after time.Duration, pick int) proclist.Process {
	t.Helper()
	s := b.start(work)
	select {
	case <-time.After(after):
	case <-s.ended:
		t.Fatalf("the run ended by itself: %s", s.stderr.String())
	}
	family := proclist.Below(t, s.cmd.Process.Pid)
	victim := choose(family, pick)
	needed := main(victim.Name) && !asked(victim)
	victim.Kill()
	if victim.PID == s.cmd.Process.Pid {
		<-s.ended
		return victim
	}
	select {
	case <-s.ended:
		if !strings.Contains(s.stderr.String(), "aibox: ") {
			t.Errorf("no reason: %q", s.stderr.String())
		}
		clean(t, "stderr", s.stderr.String())
	case <-time.After(endsWithin):
		if needed && count(proclist.Below(t, s.cmd.Process.Pid), victim.Name) < count(family, victim.Name) { // else it had ended before the kill
			t.Errorf("aibox goes on without %s", victim.Name)
		}
		_ = s.cmd.Process.Kill() // a helper's work is not needed for a run
		<-s.ended
	}
	return victim
}

// choose picks a program, each as likely as the others, and then one of its processes.
func choose(family []proclist.Process, pick int) proclist.Process {
	byName := map[string][]proclist.Process{}
	for _, p := range family {
		byName[p.Name] = append(byName[p.Name], p)
	}
	names := slices.Sorted(maps.Keys(byName))
	chosen := byName[names[pick%len(names)]]
	return chosen[pick/len(names)%len(chosen)]
}

// main tells what a VM cannot be without.
func main(name string) bool {
	return strings.HasPrefix(name, "qemu") || strings.HasPrefix(name, "virtiofsd") || strings.HasPrefix(name, "bwrap")
}

// asked tells whether a program only says which version it is: another one is
// taken in its place.
func asked(p proclist.Process) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
	return err != nil || strings.Contains(string(line), "\x00--version\x00")
}

func count(family []proclist.Process, name string) (n int) {
	for _, p := range family {
		if p.Name == name {
			n++
		}
	}
	return n
}

// nothingLeft fails the test if processes of a run live on.
func (b *box) nothingLeft(t *testing.T) {
	t.Helper()
	for start := time.Now(); ; {
		var left []proclist.Process
		for _, p := range proclist.All(t) {
			if main(p.Name) || strings.HasPrefix(p.Name, "aibox") || strings.HasPrefix(p.Name, "ld-linux") || p.Name == "git" {
				left = append(left, p)
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Since(start) > leftWithin {
			t.Errorf("left after %v: %v", leftWithin, left)
			for _, p := range left {
				p.Kill()
			}
			return
		}
		time.Sleep(10 * time.Millisecond) // polls /proc, which announces nothing
	}
}

// traces are the mounts, temporary files and files beside the project's own.
func (b *box) traces(t *testing.T) string {
	t.Helper()
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	mounts := ""
	for line := range strings.Lines(string(mountinfo)) {
		if !strings.Contains(line, "/tmp/mmdebstrap.") { // an image is being built
			mounts += line
		}
	}
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "aibox*"))
	if err != nil {
		t.Fatal(err)
	}
	var temporary []string
	for _, path := range found {
		if fi, err := os.Lstat(path); err == nil && int(fi.Sys().(*syscall.Stat_t).Uid) == os.Getuid() {
			temporary = append(temporary, path)
		}
	}
	kept, err := filepath.Glob(filepath.Join(b.state(), "*"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range kept {
		names = append(names, filepath.Base(k))
	}
	return mounts + strings.Join(temporary, "\n") + "\n" + strings.Join(names, "\n")
}
