package tty

// state is where in a control sequence the output stands.
type state int

const (
	ground    state = iota
	escape          // after ESC
	skip            // one more byte of an escape sequence that does not matter
	designate       // the byte that names G0's character set
	control         // in a CSI sequence
	text            // in an OSC, DCS, APC, PM or SOS string
)

// follow takes a piece of output, cut anywhere.
func (m *modes) follow(p []byte) {
	for _, b := range p {
		m.last = b
		switch {
		case b == 0x18 || b == 0x1a: // CAN and SUB end any sequence
			m.state = ground
		case b == 0x1b: // begins a sequence even within another
			m.state = escape
		default:
			m.next(b)
		}
	}
}

func (m *modes) next(b byte) {
	switch m.state {
	case ground:
		if b == 0x0e || b == 0x0f {
			m.shifted = b == 0x0e
		}
	case escape:
		m.state = ground
		m.afterEscape(b)
	case skip:
		m.state = ground
	case designate:
		m.state = ground
		m.charset = b != 'B'
	case control:
		m.inControl(b)
	case text:
		if b == 0x07 {
			m.state = ground
		}
	}
}

func (m *modes) afterEscape(b byte) {
	switch b {
	case '[':
		m.params = m.params[:0]
		m.state = control
	case ']', 'P', '_', '^', 'X':
		m.state = text
	case '(':
		m.state = designate
	case ')', '*', '+', '-', '.', '/', '#', '%', ' ':
		m.state = skip
	case '=':
		m.keypad = true
	case '>':
		m.keypad = false
	case 'c': // full reset
		*m = *newModes()
		m.last = b
	}
}

func (m *modes) inControl(b byte) {
	switch {
	case b < 0x20 || b == 0x7f: // acted on by the terminal without ending the sequence
	case b >= 0x80:
		m.state = ground
	case b >= 0x40:
		m.state = ground
		if len(m.params) <= maxParams {
			m.sequence(string(m.params), b)
		}
	case len(m.params) <= maxParams:
		m.params = append(m.params, b)
	}
}
