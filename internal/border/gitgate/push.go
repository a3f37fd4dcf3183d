package gitgate

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"aibox/internal/border/gitgate/push"
	"aibox/internal/plain"
)

// push serves the commands and the pack of a push.
func (x *exchange) push() {
	r := bufio.NewReaderSize(x.body, bufferSize)
	req, err := push.Read(r)
	switch {
	case errors.Is(err, push.ErrFlush):
		x.probe(r)
		return
	case err != nil:
		x.gate.config.Recorder.Refused(x.target.String(), line(x.reason(err)))
		refuse(x.w, http.StatusBadRequest, x.repo.Remote+": "+x.reason(err))
		return
	}
	if reasons, pass := push.DecideAll(req, x.repo.policy()); !pass {
		x.recordRefused(req, reasons)
		x.reject(r, req, reasons)
		return
	}
	answer, err := x.send(io.MultiReader(bytes.NewReader(req.Encode()), r))
	if err != nil {
		x.failPush(req, err)
		return
	}
	defer func() { _ = answer.Close() }()
	for _, c := range req.Commands[:min(len(req.Commands), maxRecorded)] {
		x.gate.config.Recorder.Passed(x.target.String() + " " + line(c.Ref))
	}
	x.answer(answer)
}

// probe answers the flush by which git finds out whether a long request would
// be taken. Nothing may follow it.
func (x *exchange) probe(r *bufio.Reader) {
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		x.gate.config.Recorder.Refused(x.target.String(), errBody.Error())
		refuse(x.w, http.StatusBadRequest, errBody.Error())
		return
	}
	x.begun()
}

func (x *exchange) recordRefused(req push.Request, reasons []string) {
	if len(req.Commands) == 0 {
		x.gate.config.Recorder.Refused(x.target.String(), line(req.Refusal))
	}
	for i, c := range req.Commands[:min(len(req.Commands), maxRecorded)] {
		x.gate.config.Recorder.Refused(x.target.String()+" "+line(c.Ref), line(reasons[i]))
	}
}

// reject reads the pack, since git listens only after it has sent all, and
// reports the reasons.
func (x *exchange) reject(pack io.Reader, req push.Request, reasons []string) {
	report := push.Report(req, reasons)
	if !x.drain(pack) {
		x.conn.Abort()
		return
	}
	if report == nil {
		refuse(x.w, http.StatusForbidden, x.repo.Remote+": "+first(append(reasons, req.Refusal)))
		return
	}
	x.begun()
	_, _ = x.w.Write(report)
}

func first(texts []string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// drain reads a body to its end, and tells whether it found one.
func (x *exchange) drain(body io.Reader) bool {
	_ = x.control.SetReadDeadline(time.Now().Add(drainTime))
	n, err := io.Copy(io.Discard, io.LimitReader(body, maxDrain))
	return err == nil && n < maxDrain
}

// failPush reports a failure of the server's side as the reason for every ref.
func (x *exchange) failPush(req push.Request, err error) {
	text := x.reason(err)
	if x.body.Err() != nil && !x.silent.Load() {
		x.gate.config.Recorder.Refused(x.target.String(), errBody.Error())
		refuse(x.w, http.StatusBadRequest, errBody.Error())
		return
	}
	x.gate.config.Recorder.Failed(x.target.String(), line(text))
	reasons := make([]string, len(req.Commands))
	for i := range reasons {
		reasons[i] = plain.LineMax(text, maxReasonLen)
	}
	if x.silent.Load() {
		x.conn.Abort()
		return
	}
	x.reject(x.body.Take(), req, reasons)
}
