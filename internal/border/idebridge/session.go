package idebridge

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/coder/websocket"

	"aibox/internal/border/idebridge/message"
	"aibox/internal/border/idebridge/policy"
)

// session is one client and its connection with the IDE.
type session struct {
	policy  policy.Policy
	held    func(what string)
	vm, ide *websocket.Conn

	mu   sync.Mutex
	last int64
	open map[int64]waiting // requests that the IDE has not answered, by the bridge's own ids
	tabs []string          // titles of the client's diffs
}

// waiting is a request of the VM.
type waiting struct {
	id   json.RawMessage // the VM's
	kind policy.Kind
}

// errOver ends the session of a client that sends what is no message.
var errOver = errors.New("the protocol was broken")

// errBytes is a message that is no text.
var errBytes = errors.New("a message of bytes")

// read returns the next message of a side. broken is what was wrong with one
// that is no message; err ends the connection.
func read(ctx context.Context, side *websocket.Conn) (m message.Message, broken, err error) {
	kind, b, err := side.Read(ctx)
	switch {
	case err != nil:
		return m, nil, err
	case kind != websocket.MessageText:
		return m, errBytes, nil
	}
	m, broken = message.Parse(b)
	return m, broken, nil
}

func write(ctx context.Context, side *websocket.Conn, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return side.Write(ctx, websocket.MessageText, b)
}

// fromVM takes the VM's messages.
func (s *session) fromVM(ctx context.Context) error {
	for {
		m, broken, err := read(ctx, s.vm)
		if err != nil {
			return err
		}
		switch {
		case broken != nil:
			s.held("a client that sent " + broken.Error())
			return errOver
		case m.Method == "":
			s.held("an answer of the VM, which was asked nothing")
		case m.ID == nil:
			err = s.note(ctx, m)
		default:
			err = s.request(ctx, m)
		}
		if err != nil {
			return err
		}
	}
}

func (s *session) note(ctx context.Context, m message.Message) error {
	if m.Method == "notifications/cancelled" {
		return nil // an id of the VM's; the request ends by itself
	}
	params, err := s.policy.Note(m.Method)
	if err != nil {
		s.tell(err)
		return nil
	}
	return write(ctx, s.ide, message.Request(nil, m.Method, params))
}

func (s *session) request(ctx context.Context, m message.Message) error {
	call, err := s.policy.Call(m.Method, m.Params)
	if err == nil {
		err = s.ours(call)
	}
	if err != nil {
		s.tell(err)
		code := message.CodeParams
		if m.Method != "tools/call" {
			code = message.CodeMethod
		}
		return write(ctx, s.vm, message.Failure(m.ID, code, err.Error()))
	}
	id, ok := s.begin(waiting{m.ID, call.Kind})
	if !ok {
		s.held("a request beyond those that wait for the IDE")
		return write(ctx, s.vm, message.Failure(m.ID, message.CodeFailed, "too many requests wait for the IDE"))
	}
	return write(ctx, s.ide, message.Request(json.RawMessage(strconv.FormatInt(id, 10)), call.Method, call.Params))
}

// ours keeps the titles of the client's last diffs, and lets it close no other
// tabs. It may close one twice, as Claude Code does.
func (s *session) ours(call policy.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch call.Kind {
	case policy.OpenDiff:
		s.tabs = append(s.tabs, call.Tab)
		s.tabs = s.tabs[max(0, len(s.tabs)-maxOpen):]
	case policy.CloseTab:
		if !slices.Contains(s.tabs, call.Tab) {
			return &policy.HeldError{What: "the closing of a tab that is no diff of the VM's"}
		}
	}
	return nil
}

func (s *session) begin(w waiting) (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) == maxOpen {
		return 0, false
	}
	s.last++
	s.open[s.last] = w
	return s.last, true
}

func (s *session) end(id json.RawMessage) (waiting, bool) {
	n, err := strconv.ParseInt(string(id), 10, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.open[n]
	delete(s.open, n)
	return w, ok && err == nil
}

// fromIDE takes the IDE's messages.
func (s *session) fromIDE(ctx context.Context) error {
	for {
		m, broken, err := read(ctx, s.ide)
		if err != nil {
			return err
		}
		switch {
		case broken != nil:
			s.held(broken.Error() + " of the IDE")
		case m.Method == "":
			err = s.answer(ctx, m)
		case m.ID != nil:
			err = s.asked(ctx, m)
		default:
			err = s.news(ctx, m)
		}
		if err != nil {
			return err
		}
	}
}

// answer passes the IDE's answer on under the VM's own id.
func (s *session) answer(ctx context.Context, m message.Message) error {
	w, ok := s.end(m.ID)
	if !ok {
		return nil // nothing that was asked
	}
	if m.Error != nil {
		// its words may hold anything of the host
		return write(ctx, s.vm, message.Failure(w.id, m.Error.Code, "the IDE answered with an error"))
	}
	result, err := s.policy.Answer(w.kind, m.Result)
	if err != nil {
		s.tell(err)
		return write(ctx, s.vm, message.Failure(w.id, message.CodeFailed, err.Error()))
	}
	return write(ctx, s.vm, message.Result(w.id, result))
}

// asked answers the IDE's own requests, none of which reaches the VM.
func (s *session) asked(ctx context.Context, m message.Message) error {
	if m.Method == "ping" {
		return write(ctx, s.ide, message.Result(m.ID, struct{}{}))
	}
	return write(ctx, s.ide, message.Failure(m.ID, message.CodeMethod, "not served"))
}

func (s *session) news(ctx context.Context, m message.Message) error {
	params, err := s.policy.NoteToVM(m.Method, m.Params)
	if err != nil {
		s.tell(err)
		return nil
	}
	return write(ctx, s.vm, message.Request(nil, m.Method, params))
}

func (s *session) tell(err error) {
	if h := (*policy.HeldError)(nil); errors.As(err, &h) {
		s.held(h.What)
	}
}
