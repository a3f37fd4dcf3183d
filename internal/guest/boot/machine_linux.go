package boot

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"aibox/internal/guest/cgroup"
	"aibox/internal/guest/clip"
	"aibox/internal/guest/disk"
	"aibox/internal/guest/link"
	"aibox/internal/guest/names"
	"aibox/internal/guest/reap"
	"aibox/internal/guest/relay"
	"aibox/internal/guest/session"
	"aibox/internal/guest/setup"
	"aibox/internal/guest/task"
	"aibox/internal/wire"
	"aibox/internal/wire/mux"
)

// machine is what the boot steps fill in.
type machine struct {
	console *os.File
	memory  uint64 // bytes
	reaper  *reap.Reaper
	groups  *cgroup.Tree

	attached <-chan error // the end of attaching the state disk; nil without a disk
	received <-chan error // the end of connect, which sets the next three
	link     *link.Link
	control  *mux.Stream
	boot     wire.Boot

	relay  *relay.Relay
	ssh    *session.Server
	broken <-chan error // the end of the link

	mounted []string // what was mounted from outside, in order
	state   bool     // the state disk is mounted

	off sync.Once
}

func newMachine() *machine {
	return &machine{console: os.Stderr, reaper: reap.New()}
}

// steps is the boot. Three parts: what needs nothing, the host's word, and
// what depends on it. The root becomes read-only when all mount points and files
// in /etc exist; only then may a session start its command.
func (m *machine) steps() []step {
	return []step{
		{"root", switchRoot, true},
		{"kernel file systems", m.mountKernel, true},
		{"devices", prepareDevices, true},
		{"disks", m.startDisk, true},
		{"link", m.startLink, true},
		{"control groups", m.divide, true},
		{"kernel settings", setKernel, false},
		{"loopback", raiseLoopback, true},

		{"boot message", m.awaitBoot, true},
		{"session server", m.startSessions, true},

		{"clock", m.setClock, false},
		{"host name", m.setHostname, true},
		{"time zone", m.setTimeZone, false},
		{"user", m.addUser, true},
		{"state disk", m.attachState, true},
		{"shares", m.mountShares, true},
		{"folders", m.bindFolders, true},
		{"home", m.prepareHome, false},
		{"claude code", m.answerClaude, false},
		{"clipboard programs", m.addClipboard, false},
		{"forwarders", m.forward, true},
		{"read-only root", closeRoot, true},
		{"sessions", m.openSessions, true},
	}
}

// answerClaude answers what Claude Code would ask at its first start, and
// copies the user's own set-up.
func (m *machine) answerClaude() error {
	if m.boot.User != nil {
		if err := setup.User(wire.GuestHome, m.boot.UID, m.boot.GID, *m.boot.User); err != nil {
			m.note("the user's set-up of claude code is not copied: " + oneLine(err.Error()))
		}
	}
	return setup.Claude(wire.GuestHome, m.boot.UID, m.boot.GID, m.boot.API)
}

// note prints a line on the console that is no failure.
func (m *machine) note(line string) { _, _ = m.console.WriteString(noteLine(line)) }

// linkTimeout bounds the wait for the serial port to appear.
const linkTimeout = 30 * time.Second

// startLink asks the host for the boot message beside the steps that do not
// need it.
func (m *machine) startLink() error {
	received := make(chan error, 1)
	go func() { received <- safely(m.connect) }()
	m.received = received
	return nil
}

func (m *machine) awaitBoot() error { return <-m.received }

func (m *machine) connect() error {
	port, err := link.OpenPort(wire.PortName, linkTimeout)
	if err != nil {
		return err
	}
	if m.link, err = link.Dial(port); err != nil {
		return err
	}
	if m.control, err = m.link.Open(wire.ServiceControl); err != nil {
		return err
	}
	var message wire.ToGuest
	if err := wire.ReadMessage(m.control, &message, wire.MaxToGuest); err != nil {
		return fmt.Errorf("read boot message: %w", err)
	}
	if message.Boot == nil {
		return errors.New("the first message of the host is no boot message")
	}
	m.boot = *message.Boot
	return nil
}

// startDisk attaches the state disk beside the steps that do not need it.
func (m *machine) startDisk() error {
	if _, err := os.Lstat(names.StateDevice); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := makePrivate(names.State); err != nil {
		return err
	}
	cmdline, _ := os.ReadFile("/proc/cmdline") // without it, the careful way
	scratch := slices.Contains(strings.Fields(string(cmdline)), wire.ScratchArgument)
	attached := make(chan error, 1)
	go func() {
		attached <- safely(func() error {
			_, err := disk.Attach(names.StateDevice, names.State, scratch, m.reaper.Output, m.note)
			return err
		})
	}()
	m.attached = attached
	return nil
}

func (m *machine) divide() error {
	var err error
	m.groups, err = cgroup.Setup("/sys/fs/cgroup", cgroup.LimitsFor(m.memory))
	return err
}

func (m *machine) forward() error {
	m.relay = relay.New(func(service string) (relay.Conn, error) { return m.link.Open(service) })
	return m.relay.Listen(relay.Ports(m.boot))
}

// addClipboard puts the programs that read the clipboard where they are looked
// for: init under other names.
func (m *machine) addClipboard() error {
	if !m.boot.Clipboard {
		return nil
	}
	var failed []error
	for _, name := range []string{clip.XClip, clip.WlPaste} {
		failed = append(failed, os.Symlink(names.Init, filepath.Join("/usr/bin", name)))
	}
	return errors.Join(failed...)
}

// startSessions lets the host log in beside the steps that come. Its sessions
// wait for openSessions.
func (m *machine) startSessions() error {
	var err error
	m.ssh, err = session.New(session.Options{
		HostKey:     m.boot.SSHHostKey,
		ClientKey:   m.boot.SSHClientKey,
		Environment: func(client []string) []string { return session.Environment(m.boot, client) },
	})
	if err != nil {
		return err
	}
	broken := make(chan error, 1)
	go func() {
		broken <- safely(func() error {
			m.link.Serve(m.services())
			return errors.New("the host closed it")
		})
	}()
	m.broken = broken
	return nil
}

func (m *machine) openSessions() error {
	user, err := session.NewUser(m.reaper, m.groups, m.boot.UID, m.boot.GID, isTestImage())
	if err != nil {
		return err
	}
	launcher, err := m.launcher(user)
	if err != nil {
		return err
	}
	m.ssh.Open(launcher)
	return nil
}

// launcher is who starts the sessions' commands: the user's shell, or in a
// task's VM the task.
func (m *machine) launcher(user session.Launcher) (session.Launcher, error) {
	if !m.boot.Task {
		return user, nil
	}
	if !m.state {
		return nil, errors.New("a task needs a state disk")
	}
	open := func(service string) (task.Stream, error) { return m.link.Open(service) }
	return task.New(task.Options{Launcher: user, Share: wire.GuestTask, Work: names.TaskWork, Open: open}), nil
}

// services are what the host can open.
func (m *machine) services() map[string]func(net.Conn) {
	return map[string]func(net.Conn){wire.ServiceSSH: m.ssh.Serve}
}

// totalMemory is the VM's memory in bytes.
func totalMemory() (uint64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, fmt.Errorf("size of memory: %w", err)
	}
	return info.Totalram * uint64(info.Unit), nil
}
