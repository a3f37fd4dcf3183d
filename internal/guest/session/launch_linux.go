package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"aibox/internal/guest/cgroup"
	"aibox/internal/guest/names"
	"aibox/internal/guest/reap"
	"aibox/internal/wire"
)

// User launches commands as the user of the VM.
type User struct {
	reaper   *reap.Reaper
	groups   *cgroup.Tree
	uid, gid int

	thread *thread

	mu       sync.Mutex
	sessions int // so far
	living   int
}

// NewUser returns the launcher of the user with these ids. It sets what this
// process's children inherit: the limits of open files. privileged leaves out
// that sessions can never get privileges back; it is for tests.
func NewUser(reaper *reap.Reaper, groups *cgroup.Tree, uid, gid int, privileged bool) (*User, error) {
	limit := syscall.Rlimit{Cur: softFiles, Max: hardFiles}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil, fmt.Errorf("limit open files: %w", err)
	}
	prepare := givePrivilegesUp
	if privileged {
		prepare = func() error { return nil }
	}
	t, err := newThread(prepare)
	if err != nil {
		return nil, err
	}
	return &User{reaper: reaper, groups: groups, uid: uid, gid: gid, thread: t}, nil
}

// Launch starts the command in a new control group, as leader of a session of
// its own, with the user's rights and no other group's.
//
// A command line runs by "bash -c" as under any SSH server; the shell alone is
// a login shell. /etc/profile would set another PATH there, so init writes
// this one into /etc/profile.d.
func (u *User) Launch(c Command) (Process, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sessions++
	group, err := u.groups.New("s"+strconv.Itoa(u.sessions), u.uid, u.gid)
	if err != nil {
		return nil, err
	}
	child, err := u.start(c, group)
	if err != nil {
		group.Remove()
		return nil, err
	}
	u.living++
	return &process{child: child, group: group, gone: u.ended}, nil
}

func (u *User) start(c Command, group *cgroup.Group) (child *reap.Child, err error) {
	argv := []string{"-bash"}
	if c.Line != "" {
		argv = []string{names.Shell, "-c", c.Line}
	}
	if c.Terminal {
		if err := c.Stdio[0].Chown(u.uid, -1); err != nil {
			return nil, fmt.Errorf("give terminal to the user: %w", err)
		}
	}
	attr := &syscall.ProcAttr{
		Dir: workDir(),
		Env: c.Env,
		Sys: &syscall.SysProcAttr{
			Setsid:      true,
			Setctty:     c.Terminal,
			Credential:  &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.gid), Groups: []uint32{}},
			UseCgroupFD: true,
			CgroupFD:    group.FD(),
		},
	}
	for _, f := range c.Stdio {
		attr.Files = append(attr.Files, f.Fd())
	}
	u.thread.do(func() { child, err = u.reaper.Start(names.Shell, argv, attr) })
	return child, err
}

// ended clears XDG_RUNTIME_DIR and shared memory after the last session, as
// other systems do at logout: what lies there speaks of processes that are gone,
// and podman for one would take it for the truth.
func (u *User) ended() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.living--; u.living > 0 {
		return
	}
	for _, dir := range []string{names.RuntimeDir(u.uid), "/dev/shm"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// workDir is the project, or where there is none the home.
func workDir() string {
	if info, err := os.Stat(wire.GuestProject); err == nil && info.IsDir() {
		return wire.GuestProject
	}
	return wire.GuestHome
}

type process struct {
	child *reap.Child
	group *cgroup.Group
	gone  func()
	close sync.Once
}

func (p *process) Done() <-chan struct{} { return p.child.Done() }

func (p *process) Exit() (code int, signal string) {
	status := p.child.Status()
	if status.Signaled() {
		return 0, signalName(int(status.Signal()))
	}
	return status.ExitStatus(), ""
}

func (p *process) Signal(name string) {
	if number, ok := signals()[name]; ok {
		_ = p.child.SignalGroup(syscall.Signal(number))
	}
}

// Close ends every process of the session, whatever it forked, detached or
// moved into groups of its own.
func (p *process) Close() {
	p.close.Do(func() {
		_ = p.group.Kill(killTimeout)
		p.group.Remove()
		p.gone()
	})
}
