package jail

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aibox/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func TestReportByKernel(t *testing.T) {
	main := Policy{DNS: true, ConnectTCP: []uint16{443}}
	for _, test := range []struct {
		name    string
		policy  Policy
		machine abilities
		missing []string
		refused bool
	}{
		{"newest", main, abilities{11, true}, nil, false},
		{"UDP not known", main, abilities{9, true}, []string{"UDP ports"}, false},
		{"Linux 6.7", main, abilities{4, true}, []string{"UDP ports"}, false},
		{"Linux 6.6", main, abilities{3, true}, []string{"TCP ports", "UDP ports"}, true},
		{"Landlock off", main, abilities{0, true}, []string{"files", "TCP ports", "UDP ports"}, true},
		{"seccomp off", main, abilities{7, false}, []string{"TCP ports", "UDP ports", "unix sockets", "signals", "system calls"}, true},
		{"no sockets", Policy{}, abilities{4, true}, nil, false},
		{"no sockets, old kernel", Policy{}, abilities{3, true}, []string{"TCP ports"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := report(test.policy, test.machine)
			var missing []string
			for _, g := range r.Missing() {
				missing = append(missing, g.Name)
				if g.Lost == "" {
					t.Errorf("%s does not say what is lost", g.Name)
				}
			}
			if diff := cmp.Diff(test.missing, missing); diff != "" {
				t.Errorf("missing guards (-want +got):\n%s", diff)
			}
			err := r.err(false)
			if (err != nil) != test.refused {
				t.Fatalf("error %v, want one: %v", err, test.refused)
			}
			if err != nil && (fault.KindOf(err) != fault.Machine || !strings.Contains(fault.HintOf(err), OldKernelFlag)) {
				t.Errorf("%v has kind %v and hint %q", err, fault.KindOf(err), fault.HintOf(err))
			}
			if err := r.err(true); err != nil {
				t.Errorf("lax: %v", err)
			}
		})
	}
}

func TestReportLines(t *testing.T) {
	p := Policy{
		ReadFiles: []string{"/etc/hosts"}, ReadDirs: []string{"/run/x"}, WriteFiles: []string{"/dev/null"},
		WriteDirs: []string{"/home/u/p"}, Exec: []string{"/usr"}, ConnectTCP: []uint16{443, 80, 443}, DNS: true,
		Terminal: true, Children: []int{7, 9},
	}
	want := []string{
		"new privileges: enforced", "files: enforced", "TCP ports: enforced",
		"UDP ports: not enforced: a fault in aibox could send UDP packets anywhere (Linux with Landlock ABI 10 limits them)",
		"unix sockets: enforced", "signals: enforced", "system calls: enforced", "memory dump: enforced",
		"allowed: read file /etc/hosts", "allowed: read folder /run/x", "allowed: write file /dev/null",
		"allowed: write folder /home/u/p", "allowed: execute /usr", "allowed: connect to TCP port 53 80 443",
		"allowed: set the terminal's modes", "allowed: signal process 7 9",
	}
	if diff := cmp.Diff(want, report(p, abilities{7, true}).Lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestDNSFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks of /etc: found windows, want a Unix")
	}
	for _, test := range []struct {
		name, link        string // link is where resolv.conf leads, "" for a plain file
		wantFile, wantDir string
	}{
		{"plain", "", "etc/resolv.conf", ""},
		{"resolved", "../run/systemd/resolve/stub.conf", "", "run/systemd/resolve"},
		{"in run itself", "../run/resolv.conf", "run/resolv.conf", ""},
		{"elsewhere", "../var/resolv.conf", "var/resolv.conf", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{"etc", "run/systemd/resolve", "var"} {
				if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			conf := filepath.Join(root, "etc/resolv.conf")
			file := conf
			if test.link != "" {
				file = filepath.Join(root, "etc", test.link)
				if err := os.Symlink(test.link, conf); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(file, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			p := Policy{}.DNSFiles(root)
			last := strings.TrimPrefix(p.ReadFiles[len(p.ReadFiles)-1], root+"/")
			if test.wantFile != "" && last != test.wantFile {
				t.Errorf("last file %s, want %s", last, test.wantFile)
			}
			dir := strings.TrimPrefix(strings.Join(p.ReadDirs, " "), root+"/")
			if dir != test.wantDir || !p.DNS {
				t.Errorf("folders %q, want %q; DNS %v", dir, test.wantDir, p.DNS)
			}
		})
	}
}
