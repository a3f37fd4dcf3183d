package rootdisk

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// whole is the listing of a disk that keeps all rules.
func whole(test bool) map[string]guestFile {
	files := map[string]guestFile{"usr": {mode: kindDir | 0o755}, "tmp": {mode: kindDir | 0o1777}, "bin": {mode: kindLink | 0o777, size: 7}}
	for name, mode := range required(test) {
		files[name] = guestFile{mode: mode, size: 1}
	}
	return files
}

func TestAudit(t *testing.T) {
	for name, c := range map[string]struct {
		test  bool
		spoil func(map[string]guestFile)
		want  []string
	}{
		"whole":           {false, func(map[string]guestFile) {}, nil},
		"whole for tests": {true, func(map[string]guestFile) {}, nil},
		"setuid": {false, func(f map[string]guestFile) { f["usr/bin/su"] = guestFile{mode: kindRegular | 0o4755} },
			[]string{"/usr/bin/su: gives rights: mode 104755"}},
		"setgid folder": {true, func(f map[string]guestFile) { f["var/mail"] = guestFile{mode: kindDir | 0o2755} },
			[]string{"/var/mail: gives rights: mode 42755"}},
		"another's file": {false, func(f map[string]guestFile) { f["etc/x"] = guestFile{mode: kindRegular | 0o644, uid: 1000} },
			[]string{"/etc/x: is owned by the user 1000, not root"}},
		"anyone writes": {false, func(f map[string]guestFile) { f["etc/x"] = guestFile{mode: kindRegular | 0o666} },
			[]string{"/etc/x: anyone may write: mode 100666"}},
		"device": {false, func(f map[string]guestFile) { f["dev/vda"] = guestFile{mode: 0o060600} },
			[]string{"/dev/vda: is no plain file: mode 60600"}},
		"helper in the product": {false, func(f map[string]guestFile) { f[TestRoot] = guestFile{mode: kindRegular | 0o4755} },
			[]string{"/" + TestRoot + ": belongs to the test image only", "/" + TestRoot + ": gives rights: mode 104755"}},
		"no init":    {false, func(f map[string]guestFile) { delete(f, Init) }, []string{"/" + Init + ": is missing"}},
		"empty init": {false, func(f map[string]guestFile) { f[Init] = guestFile{mode: kindRegular | 0o755} }, []string{"/" + Init + ": is empty"}},
		"init is data": {false, func(f map[string]guestFile) { f[Init] = guestFile{mode: kindRegular | 0o644, size: 1} },
			[]string{"/" + Init + ": has the mode 100644, want 100755"}},
		"no helper": {true, func(f map[string]guestFile) { delete(f, TestRoot) }, []string{"/" + TestRoot + ": is missing"}},
	} {
		files := whole(c.test)
		c.spoil(files)
		problems, err := Audit(listing(files), c.test)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, problems); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// listing writes files as debugfs does.
func listing(files map[string]guestFile) string {
	var b strings.Builder
	for name := range maps.Keys(files) {
		f := files[name]
		dir, base := "", name
		if i := strings.LastIndex(name, "/"); i >= 0 {
			dir, base = name[:i], name[i+1:]
		}
		size := fmt.Sprint(f.size)
		if f.mode&kindMask == kindDir {
			size = ""
		}
		fmt.Fprintf(&b, "debugfs: ls -p \"/%s\"\n/2/040755/0/0/.//\n/2/040755/0/0/..//\n/9/%06o/%d/%d/%s/%s/\n\n", dir, f.mode, f.uid, f.gid, base, size)
	}
	return b.String()
}

func TestAuditRefusesWhatItCannotRead(t *testing.T) {
	for _, text := range []string{"ls: File not found by ext2_lookup\n", "/1/2/3/\n", "/1/0100644/x/0/name/1/\n", "/1/98/0/0/name/1/\n"} {
		if problems, err := Audit(text, false); err == nil || problems != nil {
			t.Errorf("Audit(%q) is %q, %v; want an error", text, problems, err)
		}
	}
}

func TestInstallScript(t *testing.T) {
	product, test := InstallScript(false, 5), InstallScript(true, 5)
	if strings.Contains(product, "aibox-test") || strings.Contains(product, "04755") {
		t.Errorf("the product gets the helper:\n%s", product)
	}
	for _, want := range []string{"write aibox-init usr/sbin/aibox-init\n", "set_inode_field usr/sbin/aibox-init mode 0100755\n"} {
		if !strings.Contains(product, want) || !strings.Contains(test, want) {
			t.Errorf("no %q in\n%s", want, product)
		}
	}
	if want := "set_inode_field usr/lib/aibox-test/root mode 0104755\n"; !strings.Contains(test, want) {
		t.Errorf("no %q in\n%s", want, test)
	}
}
