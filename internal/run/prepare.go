package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"aibox/internal/config"
	"aibox/internal/fault"
	"aibox/internal/gitlogin"
	"aibox/internal/image"
	"aibox/internal/project"
	"aibox/internal/run/desktop"
	"aibox/internal/run/room"
	"aibox/internal/share"
	"aibox/internal/usersetup"
)

// prepared is all of the host that the run needs, checked and opened.
type prepared struct {
	settings config.Settings
	resolved config.Resolved
	kept     project.Kept
	project  project.Folder
	folders  []share.Folder
	home     *os.File // the VM's; nil in a task
	state    project.StateDisk
	image    *image.Image

	identity identity
	logins   *gitlogin.Logins // nil without listed repositories
	user     *usersetup.Setup
	desktop  *desktop.Desktop

	console, proxyLog *os.File
	logs              logs // their names

	full bool // the disk is, at the end of the run
}

// prepare checks and opens. What is refused is refused before anything is created.
func prepare(ctx context.Context, o Options, undo *undo) (*prepared, error) {
	place, err := project.NewPlace(cmp.Or(o.State, o.Home))
	if err != nil {
		return nil, err
	}
	p := &prepared{}
	if p.project, err = place.OpenProject(o.Dir); err != nil {
		return nil, err
	}
	undo.close(p.project.Dir)
	p.kept = place.Kept(p.project.Path)
	if err := p.loadConfig(o); err != nil {
		return nil, err
	}
	if p.logs, p.folders = p.kept, []share.Folder{{Name: shareProject, Dir: p.project.Dir}}; o.Task != nil {
		p.logs, p.folders = o.Task.Folder, o.Task.folders()
	}
	if err := p.openMounts(place, undo); err != nil {
		return nil, err
	}
	if err := p.openImage(o, undo); err != nil {
		return nil, err
	}
	if err := p.openKept(o.Task, undo); err != nil {
		return nil, err
	}
	p.openUserSetup(place, o, undo)
	p.openDesktop(ctx, o, undo)
	p.identity = userIdentity(ctx, p.project.Dir, o)
	return p, p.askLogins(ctx, o, undo)
}

func (p *prepared) openImage(o Options, undo *undo) error {
	place, err := project.NewPlace(o.Home)
	if err != nil {
		return err
	}
	found, err := image.Locate(image.Search{Flag: o.Image, Home: place.Root, Build: image.Built()})
	if err != nil {
		return err
	}
	if p.image, err = image.Open(found.Dir, found.Digests); err != nil {
		return err
	}
	undo.close(p.image)
	return nil
}

// loadConfig writes the first config of a project and reads it.
func (p *prepared) loadConfig(o Options) error {
	if err := p.kept.Create(); err != nil {
		return err
	}
	if _, err := config.WriteDefault(p.kept.Config()); err != nil {
		return err
	}
	var err error
	if p.settings, err = config.Load(p.kept.Config()); err != nil {
		return err
	}
	if err := p.override(o); err != nil {
		return err
	}
	p.resolved, err = p.settings.Resolve(config.Host{Home: o.Home, Lookup: o.lookup})
	return err
}

// override puts the flags over the config.
func (p *prepared) override(o Options) error {
	if o.Memory != 0 {
		if err := config.CheckMemory(o.Memory); err != nil {
			return fault.New(fault.Usage, "give another --memory", "%w", err)
		}
		p.settings.Memory = o.Memory
	}
	if o.CPUs != 0 {
		if err := config.CheckCPUs(o.CPUs); err != nil {
			return fault.New(fault.Usage, "give another --cpus", "%w", err)
		}
		p.settings.CPUs = o.CPUs
	}
	return nil
}

// openMounts opens the mounts of the config, by handles.
func (p *prepared) openMounts(place project.Place, undo *undo) error {
	for i, m := range p.resolved.Mounts {
		if _, err := os.Stat(m.Host); errors.Is(err, fs.ErrNotExist) {
			return fault.New(fault.Config, `make it, or remove the line under "mounts": aibox config edit`, "mounts: the folder %q does not exist", m.Host)
		}
		folder, err := place.OpenMount(m.Host)
		if err != nil {
			return fmt.Errorf("mounts: %s: %w", m, err)
		}
		undo.close(folder.Dir)
		p.folders = append(p.folders, share.Folder{Name: shareMount(i), Dir: folder.Dir, ReadOnly: true})
	}
	return nil
}

// openKept takes the lock and opens what is kept for the project, or for a task.
func (p *prepared) openKept(t *Task, undo *undo) error {
	if t != nil { // its caller holds the lock
		return p.openTaskFiles(t, undo)
	}
	lock, err := p.kept.LockRun()
	if err != nil {
		return err
	}
	undo.push(lock.Release)
	return p.openFiles(undo)
}

func (p *prepared) openFiles(undo *undo) error {
	home, err := p.kept.OpenHome()
	if err != nil {
		return err
	}
	undo.close(home)
	p.home = home
	p.folders = append(p.folders, share.Folder{Name: shareHome, Dir: home})
	probe, err := room.Open(p.kept.Dir)
	if err != nil {
		return err
	}
	undo.push(func() { p.full = probe.Close() })
	if p.state, err = p.kept.OpenStateDisk(p.settings.DiskGiB); err != nil {
		return err
	}
	undo.close(p.state.File)
	return p.openLogs(p.kept.OpenConsoleLog, p.kept.OpenProxyLog, undo)
}

// openDesktop opens the user's desktop for a run. Nobody looks at a task.
func (p *prepared) openDesktop(ctx context.Context, o Options, undo *undo) {
	p.desktop = &desktop.Desktop{}
	if o.Task != nil {
		return
	}
	p.desktop = desktop.Open(ctx, desktop.Config{
		Settings: p.settings, Home: o.Home, Lookup: o.lookup, Project: p.project, VMHome: p.home,
		Terminal: o.Terminal, Lax: o.Lax, Stderr: o.Stderr,
	})
	undo.push(p.desktop.Close)
}

// close pushes the closing of c, whose error no longer matters by then.
func (u *undo) close(c io.Closer) { u.push(func() { _ = c.Close() }) }

// lookup is the host's environment, with the key that was given beside it.
func (o Options) lookup(name string) (string, bool) {
	if name == config.APIKeyName && o.APIKey != "" {
		return o.APIKey, true
	}
	return os.LookupEnv(name)
}
