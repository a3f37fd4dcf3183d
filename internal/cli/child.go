package cli

// role is a helper that aibox starts as a copy of itself, for work that is done
// under stricter rules than aibox's own. It is named by the first argument, which
// no command's name can be, and it is in no help.
type role struct {
	name string
	// run does the work with the arguments behind the name and returns the
	// exit code. It talks to its parent by the open files it was given.
	run func(args []string) int
}

// roles is every helper, so that all entry points of the program that are not
// commands are seen in one place. There is none yet.
func roles() []role { return nil }

// child runs the helper that the arguments name, if they name one.
func child(args []string) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	for _, r := range roles() {
		if r.name == args[0] {
			return r.run(args[1:]), true
		}
	}
	return 0, false
}
