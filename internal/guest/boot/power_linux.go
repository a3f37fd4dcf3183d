package boot

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"aibox/internal/guest/names"
)

// The power-off's time limits. Whatever hangs, the last one ends it.
const (
	termGrace   = time.Second
	killGrace   = time.Second
	syncLimit   = 1500 * time.Millisecond
	unmountWait = time.Second
	offLimit    = 4800 * time.Millisecond
)

// powerOff ends all processes, writes everything to the disks and ends the VM.
// It does not return. Only the first call acts.
func (m *machine) powerOff() {
	m.off.Do(func() {
		time.AfterFunc(offLimit, cut)
		m.endProcesses()
		bounded(syncLimit, unix.Sync)
		bounded(unmountWait, m.release)
	})
	cut()
}

// endProcesses lets sessions end by themselves for a moment and then ends them
// by their group, all at once, so that none can fork away.
func (m *machine) endProcesses() {
	if m.relay != nil {
		m.relay.Close()
	}
	if m.groups == nil {
		_ = unix.Kill(-1, unix.SIGKILL)
		return
	}
	if !m.groups.WaitEmpty(0) {
		_ = unix.Kill(-1, unix.SIGTERM)
		_ = unix.Kill(-1, unix.SIGHUP)
		_ = unix.Kill(-1, unix.SIGCONT)
		m.groups.WaitEmpty(termGrace)
	}
	_ = m.groups.KillAll(killGrace)
	_ = unix.Kill(-1, unix.SIGKILL)
}

// release unmounts what came from outside, the latest first, and the state
// disk. Its file system must become read-only, since that is what ends the
// journal; it can once the kernel has closed the killed processes' files,
// which takes a moment.
func (m *machine) release() {
	for _, target := range slices.Backward(m.mounted) {
		_ = unix.Unmount(target, unix.MNT_DETACH)
	}
	if !m.state {
		return
	}
	deadline := time.Now().Add(unmountWait)
	for time.Now().Before(deadline) {
		err := unix.Mount("", names.State, "", unix.MS_REMOUNT|unix.MS_RDONLY, "")
		if err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = unix.Unmount(names.State, unix.MNT_DETACH)
}

// bounded runs f but waits no longer than limit: a share whose server is gone
// holds a sync forever.
func bounded(limit time.Duration, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// cut ends the VM at once.
func cut() {
	how := unix.LINUX_REBOOT_CMD_POWER_OFF
	if b, err := os.ReadFile("/proc/cmdline"); err == nil && restarts(string(b)) {
		how = unix.LINUX_REBOOT_CMD_RESTART
	}
	_ = unix.Reboot(how)
	select {} // a kernel that cannot leaves nothing else to do
}
