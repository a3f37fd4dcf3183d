package landlock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Rights of the five kinds of path rules. Making sockets, FIFOs and devices is in
// none of them, and linkMove comes only with Rules.Tree.
const (
	readFile  = landlock.AccessFSSet(ll.AccessFSReadFile)
	readDir   = readFile | ll.AccessFSReadDir
	writeFile = readFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	writeDir  = readDir | writeFile | ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSRemoveFile | ll.AccessFSRemoveDir
	linkMove  = landlock.AccessFSSet(ll.AccessFSMakeSym | ll.AccessFSRefer)
	execFile  = readFile | ll.AccessFSExecute
	execDir   = readDir | execFile
)

func abi() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return min(v, newestABI)
}

func restrict(r Rules) error {
	rules, err := r.build()
	if err != nil {
		return err
	}
	// The library returns early, before it sets this, where it finds no Landlock.
	if err := ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no-new-privileges on all threads: %w", err)
	}
	config := landlock.V11
	if !r.Signals {
		config.Scoped &^= ll.ScopeSignal
	}
	if r.Sockets {
		config.Scoped &^= ll.ScopeAbstractUnixSocket
		config.HandledAccessFS &^= ll.AccessFSResolveUnix
	}
	if err := config.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("enforce landlock rules: %w", err)
	}
	return nil
}

func (r Rules) build() ([]landlock.Rule, error) {
	var rules []landlock.Rule
	tree := writeDir
	if r.Tree {
		tree |= linkMove
	}
	for _, kind := range []struct {
		paths     []string
		file, dir landlock.AccessFSSet // zero where that type is refused
	}{
		{r.ReadFiles, readFile, 0},
		{r.ReadDirs, 0, readDir},
		{r.WriteFiles, writeFile, 0},
		{r.WriteDirs, 0, tree},
		{r.Exec, execFile, execDir},
	} {
		for _, path := range kind.paths {
			rule, err := pathRule(path, kind.file, kind.dir)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			rules = append(rules, rule)
		}
	}
	return append(rules, r.network()...), nil
}

// pathRule refuses a folder where a file is meant: it would open all below.
func pathRule(path string, file, dir landlock.AccessFSSet) (landlock.Rule, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("landlock rule: %w", err)
	}
	rights := file
	if info.IsDir() {
		rights = dir
	}
	if rights == 0 {
		return nil, fmt.Errorf("landlock rule for %s: wrong type of file: %s", path, info.Mode().Type())
	}
	return landlock.PathAccess(rights, path).IgnoreIfMissing(), nil
}

func (r Rules) network() []landlock.Rule {
	ports := slices.Clone(r.ConnectTCP)
	var rules []landlock.Rule
	if r.DNS {
		ports = append(ports, dnsPort)
		rules = append(rules, landlock.ConnectSendUDP(dnsPort), landlock.BindUDP(anyUDPPort))
	}
	slices.Sort(ports)
	for _, port := range slices.Compact(ports) {
		rules = append(rules, landlock.ConnectTCP(port))
	}
	return rules
}
