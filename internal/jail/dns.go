package jail

import (
	"path/filepath"
	"strings"
)

// DNSFiles adds to the policy what the Go resolver reads to look up a name, and
// the right to ask name servers. root is "/", or another folder in tests.
//
// Where /etc/resolv.conf is a symlink to a file of a service's own folder below
// /run, the folder is readable rather than the file, since such services
// replace the file when the network changes. A plain /etc/resolv.conf that is
// replaced cannot be read any more: a rule holds for the old file, and one for
// all of /etc would give more than names need.
func (p Policy) DNSFiles(root string) Policy {
	p.DNS = true
	for _, name := range []string{"hosts", "nsswitch.conf", "gai.conf", "services", "host.conf"} {
		p.ReadFiles = append(p.ReadFiles, filepath.Join(root, "etc", name))
	}
	conf := filepath.Join(root, "etc", "resolv.conf")
	target, err := filepath.EvalSymlinks(conf)
	if err != nil {
		return p // no name server is configured: the resolver asks 127.0.0.1
	}
	if inRun, err := filepath.Rel(filepath.Join(root, "run"), target); err == nil &&
		filepath.IsLocal(inRun) && strings.Contains(inRun, string(filepath.Separator)) {
		p.ReadDirs = append(p.ReadDirs, filepath.Dir(target))
		return p
	}
	p.ReadFiles = append(p.ReadFiles, target)
	return p
}
