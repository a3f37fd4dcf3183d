package keys

import (
	"bytes"
	"strconv"
)

// AltV is for Windows, whose terminals keep Ctrl+V for their own paste, so that
// Claude Code takes images at Alt+V there. Where the piece is that key and
// nothing else, it returns Ctrl+V in the same form, which is what Claude Code in
// the VM, a Linux, waits for. Other pieces come back as they are: a key comes in
// one read, while Escape and then v are two. What it returns has to be fed to the
// detector, as what the VM gets.
func (d *Detector) AltV(piece []byte) []byte {
	switch {
	case d.state != ground || d.pasting:
		return piece
	case string(piece) == "\x1bv":
		return []byte{controlV}
	}
	params, isSequence := bytes.CutPrefix(piece, []byte("\x1b["))
	if !isSequence || len(params) == 0 || len(params) > maxSequence {
		return piece
	}
	final := params[len(params)-1]
	fields := bytes.Split(params[:len(params)-1], []byte(";"))
	if len(fields) < 2 {
		return piece
	}
	modifiers, event, hasEvent := bytes.Cut(fields[1], []byte(":"))
	control, ok := controlForAlt(modifiers)
	if !ok {
		return piece
	}
	fields[1] = control
	whole := append(append([]byte("\x1b["), bytes.Join(fields, []byte(";"))...), final)
	if !new(Detector).Feed(whole) { // not of the paste key
		return piece
	}
	if hasEvent { // a release follows its press, so that the program sees both of one key
		fields[1] = append(append(control, ':'), event...)
	}
	return append(append([]byte("\x1b["), bytes.Join(fields, []byte(";"))...), final)
}

// controlForAlt gives a set of modifiers Ctrl in the place of Alt, if it has Alt
// and else only the lock keys.
func controlForAlt(field []byte) ([]byte, bool) {
	const alt, control, locks = 2, 4, 64 | 128
	n, err := strconv.ParseUint(string(field), 10, 16)
	if err != nil || n == 0 || (n-1)&^locks != alt {
		return nil, false
	}
	return strconv.AppendUint(nil, ((n-1)&locks|control)+1, 10), true
}
