// Package keys finds the paste key, Ctrl+V, among the bytes that the user's
// terminal sends to the VM.
//
// Who sends these bytes: the user's terminal. The VM chooses in which form keys
// come, since it sets the terminal's modes, and it may make a terminal send
// answers; text of the VM's own that a terminal sends back as if it were typed
// is no key that could be told from a real one.
//
// What limits apply: limits.go. No byte is kept but those of one sequence.
//
// What an attacker gains: nothing but the knowledge that the user pressed a key.
// What is logged: nothing.
package keys

import (
	"bytes"
	"strconv"
)

// state is where the detector is in the terminal's bytes.
type state int

const (
	ground   state = iota
	escape         // after ESC
	sequence       // after ESC [, up to the final byte
)

const (
	esc      = 0x1b
	controlV = 0x16
)

// Detector reads a terminal's bytes in pieces of any size. The zero value is
// ready for use. It is not safe for concurrent use.
//
// Three forms count, each as a press or a repeat with Ctrl and no other
// modifier but the lock keys: the control character, CSI 118 ; 5 u of the kitty
// keyboard protocol, and CSI 27 ; 5 ; 118 ~ of xterm's modifyOtherKeys. Nothing
// counts inside a bracketed paste.
type Detector struct {
	state   state
	params  []byte
	long    bool // the sequence is longer than any key's
	pasting bool // inside a bracketed paste
}

// Feed reads the next piece and tells whether the paste key was in it.
func (d *Detector) Feed(piece []byte) (pressed bool) {
	for _, b := range piece {
		if d.next(b) {
			pressed = true
		}
	}
	return pressed
}

func (d *Detector) next(b byte) bool {
	switch {
	case b == esc:
		d.state = escape
	case b == controlV:
		// A control character inside a sequence ends it, as terminals have it.
		d.state = ground
		return !d.pasting
	case d.state == escape && b == '[':
		d.state, d.params, d.long = sequence, d.params[:0], false
	case d.state != sequence:
		d.state = ground
	case b < 0x20 || b > 0x7e:
		d.state = ground
	case b < 0x40:
		if len(d.params) == maxSequence {
			d.long = true
			break
		}
		d.params = append(d.params, b)
	default:
		d.state = ground
		return !d.long && d.final(b)
	}
	return false
}

// final judges a whole sequence.
func (d *Detector) final(b byte) bool {
	fields := bytes.Split(d.params, []byte(";"))
	switch {
	case b == '~' && len(fields) == 1:
		switch string(d.params) {
		case "200":
			d.pasting = true
		case "201":
			d.pasting = false
		}
		return false
	case d.pasting:
		return false
	case b == 'u':
		return isKitty(fields)
	case b == '~' && len(fields) == 3:
		return string(fields[0]) == "27" && justControl(fields[1]) && isV(fields[2])
	}
	return false
}

// isKitty judges key : shifted : base ; modifiers : event ; text. The base key
// is the one at that place of a Latin keyboard, for other alphabets.
func isKitty(fields [][]byte) bool {
	if len(fields) != 2 && len(fields) != 3 {
		return false
	}
	key := bytes.Split(fields[0], []byte(":"))
	if len(key) > 3 || !isV(key[0]) && (len(key) != 3 || !isV(key[2])) {
		return false
	}
	modifiers, event, given := bytes.Cut(fields[1], []byte(":"))
	const release = "3"
	return justControl(modifiers) && (!given || string(event) != release)
}

// isV takes the capital letter too, which terminals send while Caps Lock is on.
func isV(field []byte) bool { return string(field) == "118" || string(field) == "86" }

// justControl reads a number that is one more than a set of modifiers.
func justControl(field []byte) bool {
	const control, capsLock, numLock = 4, 64, 128
	n, err := strconv.ParseUint(string(field), 10, 16)
	return err == nil && n > 0 && (n-1)&^(capsLock|numLock) == control
}
