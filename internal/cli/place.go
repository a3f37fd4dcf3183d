package cli

import (
	"os"

	"aibox/internal/fault"
	"aibox/internal/project"
)

// place is where aibox keeps its files.
func (a *app) place() (project.Place, error) { return project.NewPlace(a.machine.home) }

// here names what is kept for the project in the current folder, which must
// pass the same checks as for a run.
func (a *app) here() (project.Kept, error) {
	if err := a.notRoot(); err != nil {
		return project.Kept{}, err
	}
	place, err := a.place()
	if err != nil {
		return project.Kept{}, err
	}
	folder, err := place.OpenProject(".")
	if err != nil {
		return project.Kept{}, err
	}
	folder.Dir.Close()
	return place.Kept(folder.Path), nil
}

// keptHere is here for commands that make no sense before the first run.
func (a *app) keptHere() (project.Kept, error) {
	k, err := a.here()
	if err != nil {
		return project.Kept{}, err
	}
	if _, err := os.Stat(k.Dir); err != nil {
		return project.Kept{}, fault.New(fault.Failed, "aibox projects list shows all", "nothing is kept for %q yet", k.Project)
	}
	return k, nil
}
