package demo

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"aibox/internal/plain"
)

// API is a scripted Messages API: streaming and whole replies, token counts,
// the list of models and the health check, which is what Claude Code calls. It
// answers at once, whatever it is sent.
//
// It accepts only requests with its key in x-api-key, with no other login
// beside it, and without the key anywhere else: the VM must not know it.
type API struct {
	key    string
	script *script
	report func(answer)
}

// NewAPI returns an API that gives every conversation one neutral reply. It
// serves as a stand-in wherever Claude Code has to start without an account.
func NewAPI(key string) *API { return &API{key: key, report: func(answer) {}} }

// errKey tells what a request of the wrong login means.
var errKey = errors.New("a request came without the key that only the host holds")

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "request_too_large", "the request is too large or broken")
		return
	}
	if err := a.checkLogin(r, body); err != nil {
		a.report(answer{failed: KeyKept, err: err})
		// Not 401: Claude Code would try again for minutes.
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /v1/messages":
		a.messages(w, body)
	case "POST /v1/messages/count_tokens":
		writeJSON(w, http.StatusOK, map[string]int{"input_tokens": len(body) / 4})
	case "GET /v1/models":
		writeJSON(w, http.StatusOK, map[string]any{"data": []any{}, "has_more": false, "first_id": nil, "last_id": nil})
	case "GET /api/hello", "HEAD /api/hello":
		writeJSON(w, http.StatusOK, map[string]string{"message": "hello"})
	default:
		refuse(w, http.StatusNotFound, "not_found_error", "the scripted API does not serve this path")
	}
}

// checkLogin tells why a request's login is wrong. /api/hello needs none.
func (a *API) checkLogin(r *http.Request, body []byte) error {
	if bytes.Contains(body, []byte(a.key)) {
		return errors.New("the key that only the host holds was in a request's body: the VM knows it")
	}
	got := r.Header.Values("X-Api-Key")
	if len(got) == 0 && r.URL.Path == "/api/hello" {
		return nil
	}
	if len(got) != 1 || subtle.ConstantTimeCompare([]byte(got[0]), []byte(a.key)) != 1 {
		return errKey
	}
	if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
		return errors.New("a request carried a login of the VM beside the host's key")
	}
	return nil
}

// messages serves POST /v1/messages.
func (a *API) messages(w http.ResponseWriter, body []byte) {
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "the request is no JSON of a Messages request")
		return
	}
	a.report(answer{seen: []Step{KeyKept}})
	ans := a.script.answer(req)
	a.report(ans)
	reply := newReply(req.Model, ans.content)
	if !req.Stream {
		writeJSON(w, http.StatusOK, reply)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(reply.events()) // an error means that the VM is gone, which its runner tells
}

// refuse answers in the API's form of an error.
func refuse(w http.ResponseWriter, status int, kind, text string) {
	writeJSON(w, status, map[string]any{
		"type":  "error",
		"error": map[string]string{"type": kind, "message": fmt.Sprintf("aibox demo: %s", plain.Line(text))},
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}
