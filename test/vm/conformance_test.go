//go:build vm

package vm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNinePConformance asks both kinds of shares the same questions, each in one
// VM. What a share answers otherwise than a local disk is in differences().
func TestNinePConformance(t *testing.T) {
	for _, kind := range []string{"virtiofs", "9p"} {
		t.Run(kind, func(t *testing.T) {
			c := newConformance(t, kind)
			var took strings.Builder
			for _, part := range []struct {
				name string
				do   func(conformance)
			}{
				{"cases", conformance.cases}, {"probes", conformance.probes}, {"verify", conformance.verify},
				{"hostEdits", conformance.hostEdits}, {"saveByRename", conformance.saveByRename}, {"openFiles", conformance.openFiles},
				{"rights", conformance.rights}, {"git", conformance.git}, {"sqlite", conformance.sqlite}, {"tar", conformance.tar},
				{"drain", conformance.drain}, {"tree", conformance.tree},
			} {
				c.vm.mustWithin(time.Minute, "true") // else the part before took the VM with it
				start := time.Now()
				t.Run(part.name, func(t *testing.T) { part.do(c.in(t)) })
				fmt.Fprintf(&took, " %s %.1fs", part.name, time.Since(start).Seconds())
			}
			t.Logf("%s:%s", kind, took.String())
		})
	}
}

// conformance is a running VM with a share of one kind.
type conformance struct {
	*testing.T
	vm      *shell
	kind    string
	project string // the share's folder on the host
}

const (
	fscase    = "/tmp/fscase"
	reference = "~/.cache/reference" // on the state disk, an ext4
)

func newConformance(t *testing.T, kind string) conformance {
	t.Helper()
	b := newBox(t)
	b.limit = 45 * time.Minute // most of it on a machine that does much else
	tools := filepath.Join(b.home, "tools")
	program, err := os.ReadFile(readEnvironment().fscase)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"fscase": program, "file": []byte("file"), "dir/file": nil} {
		path := filepath.Join(tools, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.config(fmt.Sprintf("shares: %s\nmounts: [\"%s:/opt/tools\"]\n", kind, tools))
	c := conformance{t, b.shell(), kind, b.project}
	for _, dir := range []string{"/project", "/opt/tools"} {
		if got := c.vm.must("findmnt -n -o FSTYPE " + dir); strings.TrimSpace(got) != kind {
			t.Fatalf("%s is %q, want %s", dir, got, kind)
		}
	}
	c.vm.must("cp /opt/tools/fscase " + fscase + " && mkdir " + reference + " && test $(stat -f -c %T " + reference + ") = ext2/ext3")
	return c
}

// in is the same VM for a sub-test.
func (c conformance) in(t *testing.T) conformance {
	session := *c.vm.session
	session.t = t
	c.T, c.vm = t, &shell{session: &session, n: c.vm.n}
	return c
}

// folder makes a folder on the share and one on the reference.
func (c conformance) folder(name string) {
	c.Helper()
	c.vm.must("cd /project && mkdir " + name + " && mkdir " + reference + "/" + name)
}

// slowDeadline bounds a part under software emulation on a machine that does much else.
const slowDeadline = 20 * time.Minute

// slow is must for what takes its time on a slow machine.
func (c conformance) slow(command string) string {
	c.Helper()
	return c.vm.mustWithin(slowDeadline, command)
}
