// Package message reads and writes the JSON-RPC messages of Claude Code and an
// IDE. What it reads is only ever passed on as a new message, written from what
// was understood, so that two readers cannot find two meanings in one.
//
// Who sends these bytes: the VM, and the user's IDE. Limits: limits.go.
// What is logged: nothing.
package message

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Message is a request (ID and Method), a notification (Method), a result (ID and
// Result) or an error (ID and Error).
type Message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Error is why a request failed.
type Error struct {
	Code int    `json:"code"`
	Text string `json:"message"`
}

// Codes of JSON-RPC.
const (
	CodeMethod = -32601 // no such method
	CodeParams = -32602 // wrong parameters
	CodeFailed = -32603 // it failed
)

// Errors of Parse.
var (
	ErrDeep  = errors.New("a message that is nested too deeply")
	ErrShape = errors.New("a message that is not understood")
)

// Parse reads one message. On an error the message is the zero one.
func Parse(b []byte) (Message, error) {
	if tooDeep(b) {
		return Message{}, ErrDeep
	}
	var m Message
	if err := json.Unmarshal(b, &m); err != nil {
		return Message{}, ErrShape
	}
	if m.Version != "2.0" || !m.whole() {
		return Message{}, ErrShape
	}
	return m, nil
}

// whole tells whether the message is one of the four kinds.
func (m Message) whole() bool {
	if m.ID != nil && !goodID(m.ID) || len(m.Method) > maxMethod {
		return false
	}
	answer := m.Result != nil || m.Error != nil
	switch {
	case m.Method != "":
		return !answer
	case m.ID == nil || m.Params != nil:
		return false
	}
	return (m.Result != nil) != (m.Error != nil)
}

// goodID takes a short string or a number.
func goodID(id json.RawMessage) bool {
	if len(id) > maxID {
		return false
	}
	c := id[0]
	return c == '"' || c == '-' || c >= '0' && c <= '9'
}

// tooDeep counts brackets outside of strings, before anything is built of them.
func tooDeep(b []byte) bool {
	depth := 0
	for inString := false; len(b) > 0; b = b[1:] {
		switch c := b[0]; {
		case inString && c == '\\':
			b = b[min(1, len(b)-1):]
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// Request is a request or, with a nil id, a notification.
func Request(id json.RawMessage, method string, params any) []byte {
	return encode(Message{ID: id, Method: method, Params: raw(params)})
}

// Result answers the request id.
func Result(id json.RawMessage, result any) []byte {
	return encode(Message{ID: id, Result: raw(result)})
}

// Failure answers the request id with an error.
func Failure(id json.RawMessage, code int, text string) []byte {
	return encode(Message{ID: id, Error: &Error{code, text}})
}

func raw(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	return bytes.TrimSuffix(marshal(v), []byte("\n"))
}

func encode(m Message) []byte {
	m.Version = "2.0"
	return bytes.TrimSuffix(marshal(m), []byte("\n"))
}

// marshal is json.Marshal without its changes to "<" and the like. What is given
// to it are structs and strings, which it can write.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return []byte("null")
	}
	return b.Bytes()
}
