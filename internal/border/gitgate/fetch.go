package gitgate

import (
	"bufio"
	"errors"

	"aibox/internal/border/gitgate/fetch"
	"aibox/internal/border/gitgate/pktline"
)

// fetch serves one command of protocol version 2. What fails is told in git's
// own way, since git shows no other.
func (x *exchange) fetch() {
	req, err := fetch.Read(bufio.NewReaderSize(x.body, bufferSize))
	if errors.Is(err, fetch.ErrFlush) {
		x.begun()
		return
	}
	if err != nil {
		x.failFetch(err)
		return
	}
	answer, err := x.send(req)
	if err != nil {
		x.failFetch(err)
		return
	}
	defer func() { _ = answer.Close() }()
	if req.Command() == "fetch" {
		x.gate.config.Recorder.Passed(x.target.String())
	}
	x.answer(answer)
}

func (x *exchange) failFetch(err error) {
	text := x.reason(err)
	switch {
	case errors.Is(err, fetch.ErrRequest):
		x.gate.config.Recorder.Refused(x.target.String(), line(text))
	case x.body.Err() != nil && !x.silent.Load():
		text = errBody.Error()
		x.gate.config.Recorder.Refused(x.target.String(), text)
	default:
		x.gate.config.Recorder.Failed(x.target.String(), line(text))
	}
	x.begun()
	_, _ = x.w.Write(pktline.AppendString(nil, "ERR aibox: "+x.repo.Remote+": "+line(text)))
}
