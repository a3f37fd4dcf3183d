package push

import (
	"aibox/internal/border/gitgate/pktline"
	"aibox/internal/plain"
)

// Report is the answer to a push that was not passed on: git shows each ref as
// "remote rejected" with its reason. It is nil for a client that asked for no
// report. Reasons go by the request's commands.
func Report(req Request, reasons []string) []byte {
	if !req.caps.report && !req.caps.reportV2 {
		return nil
	}
	unpack := "unpack ok\n"
	if len(req.Commands) == 0 {
		unpack = "unpack aibox: " + plain.LineMax(req.Refusal, maxReason) + "\n"
	}
	report := pktline.AppendString(nil, unpack)
	for i, c := range req.Commands {
		report = pktline.AppendString(report, "ng "+c.Ref+" aibox: "+plain.LineMax(reasons[i], maxReason)+"\n")
	}
	report = pktline.AppendFlush(report)
	if !req.caps.sideBand {
		return report
	}
	var b []byte
	for len(report) > 0 {
		n := min(len(report), maxBand)
		b = pktline.AppendString(b, "\x01"+string(report[:n]))
		report = report[n:]
	}
	return pktline.AppendFlush(b)
}
