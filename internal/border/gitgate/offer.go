package gitgate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"

	"aibox/internal/border/gitgate/pktline"
	"aibox/internal/border/gitgate/push"
	"aibox/internal/border/gitgate/upstream"
)

// offer serves what a server offers, packet for packet.
func (x *exchange) offer() {
	body, err := x.repo.server.Advertise(x.ctx, x.target.Service)
	if err != nil {
		x.failOffer(err)
		return
	}
	defer func() { _ = body.Close() }()
	pkt := pktline.NewReader(body)
	first, err := pkt.Next()
	if err == nil {
		err = x.checkOffer(&first)
	}
	if err != nil {
		x.failOffer(err)
		return
	}
	x.begun()
	if err := x.passOffer(first, pkt); err != nil {
		x.gate.config.Recorder.Failed(x.target.String(), line(x.reason(err)))
		x.conn.Abort()
	}
}

func (x *exchange) failOffer(err error) {
	if errors.Is(err, io.EOF) {
		err = errors.New("the server offers nothing")
	}
	text := x.reason(err)
	x.gate.config.Recorder.Failed(x.target.String(), line(text))
	refuse(x.w, http.StatusBadGateway, x.repo.Remote+": "+text)
}

// checkOffer reads the first packet: the protocol's version, or the first ref
// with the capabilities, some of which are not for the VM.
func (x *exchange) checkOffer(first *pktline.Packet) error {
	if x.target.Service == upstream.UploadPack {
		if !upstream.IsVersion2(*first) {
			return upstream.ErrVersion
		}
		return nil
	}
	if first.Kind == pktline.Data {
		text := push.FilterOffer(string(first.Payload))
		first.Payload = []byte(text)
	}
	return nil
}

func (x *exchange) passOffer(p pktline.Packet, from *pktline.Reader) error {
	w := bufio.NewWriterSize(x.w, bufferSize)
	if x.target.Service == upstream.ReceivePack {
		_, _ = w.Write(pktline.AppendFlush(pktline.AppendString(nil, "# service="+string(x.target.Service)+"\n")))
	}
	var buf []byte
	for left := int64(maxOffer); ; {
		buf = p.Append(buf[:0])
		if _, err := w.Write(buf); err != nil {
			return nil // the VM left
		}
		x.touch()
		if p.Kind == pktline.Flush {
			return w.Flush()
		}
		if left -= int64(len(buf)); left < 0 {
			return fmt.Errorf("the server offers more than %d bytes", int64(maxOffer))
		}
		var err error
		if p, err = from.Next(); err != nil {
			return fmt.Errorf("read what the server offers: %w", err)
		}
	}
}
