//go:build linux

package main

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"aibox/test/bench/kit"
	"aibox/test/bench/peer"
	"aibox/test/bench/report"
	"aibox/test/bench/work"
)

// shareRounds is how often each file system does all of the work; each time in a
// VM that was just started.
const (
	shareRounds = 3
	shareBudget = 5 * time.Minute
)

// The file systems that do the same work, by the name of their job.
const (
	ourVirtiofs  = "virtiofs"
	ourNine      = "9p"
	ourDisk      = "disk"
	ourLocal     = "local"
	bareVirtiofs = "bare-virtiofs"
	autoVirtiofs = "auto-virtiofs"
	bareDisk     = "bare-disk"
	diod         = "diod"
	qemuNine     = "qemu-9p"
)

// sides collects what each side measured, and why one has nothing.
type sides struct {
	values map[string]report.Series // by JOB/what
	absent map[string]string        // by job
}

func newSides() sides { return sides{map[string]report.Series{}, map[string]string{}} }

// add takes one round's results, and why jobs have none.
func (s sides) add(o work.Outcome, err error, jobs ...string) {
	for _, job := range jobs {
		if err != nil {
			s.lack(job, err.Error())
		}
	}
	for job, why := range o.Failed {
		s.lack(job, why)
	}
	for name, value := range o.Results {
		s.values[name] = append(s.values[name], value)
	}
}

// lack says why a job has no values, in full on standard error.
func (s sides) lack(job, why string) {
	fmt.Fprintf(os.Stderr, "bench: %s: %s\n", job, why)
	s.absent[job] = why
}

func (s sides) peer(name, job, what string, goal report.Goal, rest string) report.Peer {
	return report.Peer{Name: name, Values: s.values[job+"/"+what], Goal: goal, Absent: s.absent[job], Rest: rest}
}

// share measures work on files in aibox's VM and in VMs without aibox.
func (m machine) share(dir string) ([]report.Row, error) {
	s := newSides()
	err := rounds(shareRounds, shareBudget, func(int) error {
		r, err := m.oursOnFiles("shares: virtiofs\n", ourVirtiofs+"=dir:files "+ourDisk+"=dir:$HOME/.cache/files "+ourLocal+"=dir:/usr/local/files")
		s.add(r, err, ourVirtiofs, ourDisk, ourLocal)
		r, err = m.oursOnFiles("shares: 9p\n", ourNine+"=dir:files")
		s.add(r, err, ourNine)
		r, err = m.bareOnFiles(dir)
		s.add(r, err, bareVirtiofs, autoVirtiofs, bareDisk, diod)
		r, err = m.stockOnFiles(dir)
		s.add(r, err, qemuNine)
		return nil
	})
	return shareRows(s), err
}

func shareRows(s sides) (rows []report.Row) {
	for _, w := range []struct{ name, what, unit string }{
		{"git status of 10,000 files", work.Status, "s"},
		{"untar 2,000 files of 1 kB", work.Untar, "s"},
		{"create 5,000 files of 1 kB", work.Create, "s"},
		{"write 256 MB and fsync", work.Write, "MB/s"},
		{"read 256 MB", work.Read, "MB/s"},
	} {
		goal, rest := report.AtMost, restStream
		if w.unit != "s" {
			goal, rest = func(ratio float64) report.Goal { return report.AtLeast(1 / ratio) }, restPieces
		}
		rows = append(rows,
			report.Row{Name: "virtiofs: " + w.name, Unit: w.unit, Ours: s.values[ourVirtiofs+"/"+w.what], Peers: []report.Peer{
				s.peer("bare virtiofsd, same cache", bareVirtiofs, w.what, goal(1.1), restVirtiofs),
				s.peer("bare virtiofsd, cache=auto", autoVirtiofs, w.what, report.Goal{}, ""),
			}},
			report.Row{Name: "9p: " + w.name, Unit: w.unit, Ours: s.values[ourNine+"/"+w.what], Peers: []report.Peer{
				s.peer("diod over the same kind of port, mounted alike", diod, w.what, goal(1.2), restDiod),
				s.peer("virtiofs of aibox", ourVirtiofs, w.what, goal(2), rest),
				s.peer("virtio-9p of QEMU, Debian's kernel", qemuNine, w.what, report.Goal{}, ""),
			}},
			report.Row{Name: "state disk at ~/.cache: " + w.name, Unit: w.unit, Ours: s.values[ourDisk+"/"+w.what], Peers: []report.Peer{
				s.peer("virtio-blk of bare QEMU", bareDisk, w.what, report.Goal{}, ""),
				s.peer("the same disk at /usr/local, to which no path leads through the home", ourLocal, w.what, report.Goal{}, ""),
			}})
	}
	return rows
}

// oursOnFiles runs jobs in a VM of aibox; "files" is a folder of its project.
func (m machine) oursOnFiles(config, jobs string) (work.Outcome, error) {
	p, remove, err := m.filesPlace(config)
	if err != nil {
		return work.Outcome{}, err
	}
	defer remove()
	return p.guestJobs(jobs)
}

// filesPlace has in its project what jobs on files need.
func (m machine) filesPlace(config string) (p place, remove func(), err error) {
	p, remove, err = m.newPlace(config)
	if err != nil {
		return p, nil, err
	}
	err = m.Kit.CopyArchives(p.project)
	if err == nil {
		err = p.addGuest()
	}
	if err == nil {
		err = m.Kit.Serve(filepath.Join(p.project, "files"))
	}
	if err != nil {
		remove()
	}
	return p, remove, err
}

// addGuest puts the bench's program for VMs into the project.
func (p place) addGuest() error {
	return kit.CopyProgram(p.guest, p.project)
}

// bareOnFiles is one VM of aibox's kernel with everything that it can mount.
func (m machine) bareOnFiles(dir string) (work.Outcome, error) {
	at, err := os.MkdirTemp(dir, "bare-")
	if err != nil {
		return work.Outcome{}, err
	}
	defer os.RemoveAll(at)
	vm := peer.VM{}
	for _, v := range []struct{ job, tag, cache string }{{bareVirtiofs, "never", "never"}, {autoVirtiofs, "auto", "auto"}} {
		folder := filepath.Join(at, v.tag)
		if err := m.Kit.Serve(filepath.Join(folder, "work")); err != nil {
			return work.Outcome{}, err
		}
		args, stop, err := m.Virtiofsd(folder, v.tag, v.cache)
		if err != nil {
			return work.Outcome{}, err
		}
		defer stop()
		vm.Extra, vm.Jobs = append(vm.Extra, args...), append(vm.Jobs, v.job+"=virtiofs:"+v.tag)
	}
	disk := filepath.Join(at, "disk.ext4")
	if err := peer.NewDisk(disk); err != nil {
		return work.Outcome{}, err
	}
	vm.Extra, vm.Jobs = append(vm.Extra, peer.Disk(false, "state", disk, false)...), append(vm.Jobs, bareDisk+"=ext4:/dev/vdc")
	folder := filepath.Join(at, diod)
	if err := m.Kit.Serve(filepath.Join(folder, "work")); err != nil {
		return work.Outcome{}, err
	}
	me, err := user.Current()
	if err != nil {
		return work.Outcome{}, err
	}
	args, stop, err := m.Diod(folder)
	if err != nil {
		return work.Outcome{}, err
	}
	defer stop()
	vm.Extra, vm.Jobs = append(vm.Extra, args...), append(vm.Jobs, diod+"=port:"+me.Username+":"+folder)
	return m.Run(vm)
}

// stockOnFiles is a VM of Debian's kernel, since aibox's own has no 9p over virtio.
func (m machine) stockOnFiles(dir string) (work.Outcome, error) {
	folder, err := os.MkdirTemp(dir, "stock-")
	if err != nil {
		return work.Outcome{}, err
	}
	defer os.RemoveAll(folder)
	if err := m.Kit.Serve(filepath.Join(folder, "work")); err != nil {
		return work.Outcome{}, err
	}
	return m.Run(peer.VM{Stock: true, Jobs: []string{qemuNine + "=9p:bench"}, Extra: []string{
		"-fsdev", "local,id=share,security_model=none,path=" + folder, "-device", "virtio-9p-pci,fsdev=share,mount_tag=bench"}})
}
