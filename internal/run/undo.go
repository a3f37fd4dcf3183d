package run

// undo is a stack of what must be taken back. Every step of the start pushes
// its own; whatever ends the run, they are called in reverse order, once.
type undo struct{ steps []func() }

func (u *undo) push(step func()) { u.steps = append(u.steps, step) }

func (u *undo) unwind() {
	for len(u.steps) > 0 {
		last := len(u.steps) - 1
		step := u.steps[last]
		u.steps = u.steps[:last]
		step()
	}
}
