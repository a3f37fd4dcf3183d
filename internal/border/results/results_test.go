package results

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"aibox/internal/wire"
)

const (
	startOID = "1111111111111111111111111111111111111111"
	tipOID   = "2222222222222222222222222222222222222222"
	otherOID = "3333333333333333333333333333333333333333"
	result   = `{"outcome":"finished","turns":3,"cost_usd":0.5,"seconds":12,"last_message":"done"}`
)

// entry appends a file to a tar.
func entry(tar []byte, name, text string) []byte {
	h := wire.ResultHeader(name, int64(len(text)))
	tar = append(append(tar, h[:]...), text...)
	return append(tar, make([]byte, wire.ResultPadding(int64(len(text))))...)
}

func end(tar []byte) []byte { return append(tar, make([]byte, 2*wire.ResultBlock)...) }

// pack returns a pack that claims count objects.
func pack(count uint32, body string) string {
	p := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), count)
	p = append(p, body...)
	sum := sha1.Sum(p)
	return string(append(p, sum[:]...))
}

const goodHeader = "# v2 git bundle\n-" + startOID + " the start\n" + tipOID + " refs/heads/aibox/task\n\n"

func goodBundle() string { return goodHeader + pack(2, strings.Repeat("x", 40)) }

func goodTar() []byte {
	return end(entry(entry(nil, wire.ChangesFile, goodBundle()), wire.ResultFile, result))
}

func TestGoodResults(t *testing.T) {
	var changes bytes.Buffer
	got, err := Read(iotest.OneByteReader(bytes.NewReader(goodTar())), Start{startOID}, &changes)
	if err != nil {
		t.Fatal(err)
	}
	if changes.String() != goodBundle() || got.Changes != int64(changes.Len()) {
		t.Errorf("stored %d bytes, %q", got.Changes, changes.String())
	}
	if got.Bundle == nil || got.Bundle.Tip != tipOID || got.Bundle.Objects != 2 {
		t.Errorf("bundle %+v", got.Bundle)
	}
	if want := (Claim{Outcome: "finished", Turns: 3, CostUSD: 0.5, Seconds: 12, LastMessage: "done"}); got.Claim == nil || *got.Claim != want {
		t.Errorf("claim %+v, want %+v", got.Claim, want)
	}
}

func TestWrongTars(t *testing.T) {
	other := wire.ResultHeader(wire.ChangesFile, 3)
	withHeader := func(change func(h *[wire.ResultBlock]byte)) []byte {
		h := other
		change(&h)
		return append(h[:], make([]byte, wire.ResultBlock)...)
	}
	for name, c := range map[string]struct {
		tar  []byte
		want string
	}{
		"nothing":            {nil, "too early"},
		"no result":          {end(entry(nil, wire.ChangesFile, goodBundle())), "lack result.json"},
		"only the end":       {end(nil), "lack result.json"},
		"unknown name":       {end(entry(nil, "evil", "x")), `"evil"`},
		"path":               {end(entry(nil, "../result.json", result)), "none of theirs"},
		"twice":              {entry(entry(nil, wire.ChangesFile, goodBundle()), wire.ChangesFile, goodBundle()), "twice"},
		"wrong order":        {entry(entry(nil, wire.ResultFile, result), wire.ChangesFile, goodBundle()), "go on after"},
		"transcript":         {end(entry(nil, wire.TranscriptFile, "x")), "none of theirs"},
		"after the result":   {entry(entry(nil, wire.ResultFile, result), wire.ResultFile, result), "go on after"},
		"link":               {withHeader(func(h *[wire.ResultBlock]byte) { h[156] = '2' }), "plain file"},
		"device":             {withHeader(func(h *[wire.ResultBlock]byte) { h[156] = '3' }), "plain file"},
		"pax header":         {withHeader(func(h *[wire.ResultBlock]byte) { h[156] = 'x' }), "plain file"},
		"sparse":             {withHeader(func(h *[wire.ResultBlock]byte) { h[156] = 'S' }), "plain file"},
		"setuid":             {withHeader(func(h *[wire.ResultBlock]byte) { h[101] = '4' }), "plain file"},
		"negative size":      {withHeader(func(h *[wire.ResultBlock]byte) { copy(h[124:], "-0000000001") }), "plain file"},
		"binary size":        {withHeader(func(h *[wire.ResultBlock]byte) { h[124] = 0x80 }), "plain file"},
		"too long":           {func() []byte { h := wire.ResultHeader(wire.ResultFile, wire.MaxResult+1); return h[:] }(), "over the limit"},
		"truncated":          {goodTar()[:wire.ResultBlock+1], "too early"},
		"truncated bundle":   {goodTar()[:wire.ResultBlock+len(goodBundle())-30], "too early"},
		"truncated padding":  {goodTar()[:wire.ResultBlock+len(goodBundle())+10], "too early"},
		"hidden in padding":  {append(goodTar()[:wire.ResultBlock+len(goodBundle())+10], bytes.Repeat([]byte("h"), 600)...), "hidden"},
		"one block of zeros": {goodTar()[:len(goodTar())-wire.ResultBlock], "do not end"},
		"more after the end": {append(goodTar(), 0), "do not end"},
		"result no JSON":     {end(entry(nil, wire.ResultFile, "[")), "JSON"},
		"result no outcome":  {end(entry(nil, wire.ResultFile, `{"outcome":"great"}`)), "outcome"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(bytes.NewReader(c.tar), Start{startOID}, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("the error is no plain line: %q", err)
			}
			if name == "truncated bundle" && (got.Changes == 0 || got.Bundle != nil) {
				t.Errorf("what came is not kept: %+v", got)
			}
		})
	}
}

func TestWrongBundles(t *testing.T) {
	body := strings.Repeat("x", 40)
	head := func(lines ...string) string { return strings.Join(lines, "\n") + "\n\n" }
	pre, ref := "-"+startOID+" s", tipOID+" refs/heads/aibox/task"
	damaged := []byte(goodBundle())
	damaged[len(damaged)-30] ^= 1
	for name, c := range map[string]struct{ bundle, want string }{
		"empty":            {"", "too early"},
		"no bundle":        {"#!/bin/sh\n\n", "no git bundle"},
		"two refs":         {head("# v2 git bundle", pre, ref, tipOID+" refs/heads/main") + pack(2, body), "2 references"},
		"another ref":      {head("# v2 git bundle", pre, tipOID+" refs/heads/main") + pack(2, body), "not refs/heads/aibox/task"},
		"HEAD":             {head("# v2 git bundle", pre, tipOID+" HEAD") + pack(2, body), "not refs/heads/aibox/task"},
		"a tag":            {head("# v2 git bundle", pre, tipOID+" refs/tags/aibox/task") + pack(2, body), "not refs/heads/aibox/task"},
		"no ref":           {head("# v2 git bundle", pre) + pack(2, body), "0 references"},
		"no prerequisite":  {head("# v2 git bundle", ref) + pack(2, body), "does not build"},
		"another start":    {head("# v2 git bundle", "-"+otherOID+" s", ref) + pack(2, body), "another commit"},
		"two starts":       {head("# v2 git bundle", pre, "-"+otherOID+" s", ref) + pack(2, body), "more than the start"},
		"start twice":      {head("# v2 git bundle", pre, pre, ref) + pack(2, body), "more than the start"},
		"tip is the start": {head("# v2 git bundle", pre, startOID+" refs/heads/aibox/task") + pack(2, body), "no commit on top"},
		"short tip":        {head("# v2 git bundle", pre, tipOID[:39]+" refs/heads/aibox/task") + pack(2, body), "no commit on top"},
		"long tip":         {head("# v2 git bundle", pre, tipOID+tipOID[:24]+" refs/heads/aibox/task") + pack(2, body), "no commit on top"},
		"tip no hex":       {head("# v2 git bundle", pre, strings.Repeat("G", 40)+" refs/heads/aibox/task") + pack(2, body), "no commit on top"},
		"filter":           {head("# v3 git bundle", "@filter=blob:none", pre, ref) + pack(2, body), "no git bundle of"},
		"sha256":           {head("# v3 git bundle", "@object-format=sha256", pre, ref) + pack(2, body), "no git bundle of"},
		"endless header":   {"# v2 git bundle\n-" + startOID + strings.Repeat("s", maxBundleHeader+1), "too long"},
		"no pack":          {goodHeader + strings.Repeat("y", 60), "holds no pack"},
		"pack version":     {goodHeader + "PACK\x00\x00\x00\x04" + strings.Repeat("y", 60), "holds no pack"},
		"too many objects": {goodHeader + pack(1<<31, body), "claims 2147483648 objects"},
		"no objects":       {goodHeader + pack(0, body), "claims 0 objects"},
		"a few too many":   {goodHeader + pack(5, body), "claims 5 objects"},
		"short pack":       {goodHeader + "PACK\x00\x00\x00\x02\x00\x00\x00\x01", "claims 1 objects"},
		"damaged":          {string(damaged), "damaged"},
		"more behind":      {goodBundle() + "x", "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			var stored bytes.Buffer
			tar := end(entry(entry(nil, wire.ChangesFile, c.bundle), wire.ResultFile, result))
			got, err := Read(bytes.NewReader(tar), Start{startOID}, &stored)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
			if got.Bundle != nil {
				t.Errorf("the bundle counts: %+v", got.Bundle)
			}
			if !strings.HasPrefix(c.bundle, goodHeader) && stored.Len() > 0 {
				t.Errorf("%d bytes of it were stored", stored.Len())
			}
		})
	}
}

func TestSHA256Bundle(t *testing.T) {
	start, tip := strings.Repeat("1", 64), strings.Repeat("2", 64)
	lines := []string{"# v3 git bundle", "@object-format=sha256", "-" + start + " s", tip + " refs/heads/aibox/task"}
	if got, err := judgeHeader(lines, start); got != tip || err != nil {
		t.Errorf("tip %q, %v", got, err)
	}
	if _, err := judgeHeader([]string{"# v2 git bundle", "-" + start + " s", tip + " refs/heads/aibox/task"}, start); err == nil {
		t.Error("a bundle without its object format was accepted")
	}
	if _, err := judgeHeader(append(lines[:3:3], tip[:40]+" refs/heads/aibox/task"), start); err == nil {
		t.Error("a short object id was accepted")
	}
}

type fullDisk struct{ room int }

func (f *fullDisk) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return f.room, errors.New("no space left")
	}
	f.room -= len(p)
	return len(p), nil
}

func TestFullDiskIsToldApart(t *testing.T) {
	for room := range len(goodBundle()) {
		got, err := Read(bytes.NewReader(goodTar()), Start{startOID}, &fullDisk{room: room})
		if full := (*StoreError)(nil); !errors.As(err, &full) || strings.Contains(err.Error(), "\n") {
			t.Errorf("room for %d bytes: error %v, want a StoreError", room, err)
		}
		if got.Bundle != nil || got.Claim == nil || got.Changes != int64(room) {
			t.Errorf("room for %d bytes: %+v", room, got)
		}
	}
	cut := goodTar()[:wire.ResultBlock+200]
	if _, err := Read(bytes.NewReader(cut), Start{startOID}, &fullDisk{room: 10}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a tar that also ends too early: %v", err)
	}
}

func TestClaimIsPlain(t *testing.T) {
	text := `{"outcome":"failed","reason":"\u001b[2J\nx","turns":-5,"cost_usd":1e300,"seconds":-1,` +
		`"last_message":"a\r\n12:00:00 aibox[1] \u001b]0;x\u0007ok\n` + strings.Repeat("y", 9000) + `","trouble":"\u202e"}`
	c, err := parseClaim([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(c.Reason+c.LastMessage+c.Trouble, "\x1b\r\x07\u202e") || strings.Contains(c.Reason, "\n") || len(c.LastMessage) > MaxMessage+10 {
		t.Errorf("claim %+v", c)
	}
	if c.Turns != 0 || c.CostUSD != 0 || c.Seconds != 0 {
		t.Errorf("numbers %d, %v, %v", c.Turns, c.CostUSD, c.Seconds)
	}
}

// FuzzRead holds that nothing panics, that no bad bundle counts, and that a
// tar that is read whole is made of the stored files and nothing else.
func FuzzRead(f *testing.F) {
	f.Add(goodTar())
	f.Add(goodTar()[:2000])
	f.Add(end(entry(nil, wire.ResultFile, result)))
	f.Add(entry(nil, wire.ChangesFile, "# v3 git bundle\n@object-format=sha1\n-"+startOID+"\n"+tipOID+" refs/heads/aibox/task\n\n"+pack(1, "0123456789")))
	f.Fuzz(func(t *testing.T, tar []byte) {
		var changes bytes.Buffer
		got, err := Read(bytes.NewReader(tar), Start{startOID}, &changes)
		if got.Bundle != nil && !strings.Contains(changes.String(), got.Bundle.Tip+" refs/heads/aibox/task\n\nPACK") {
			t.Errorf("bundle %+v from %q", got.Bundle, changes.String())
		}
		if err != nil {
			return
		}
		if got.Changes != int64(changes.Len()) {
			t.Errorf("stored %d bytes, not %d", changes.Len(), got.Changes)
		}
		var again []byte
		if got.Bundle != nil {
			again = entry(again, wire.ChangesFile, changes.String())
		}
		if !bytes.HasPrefix(tar, again) {
			t.Error("what was stored is not what came")
		}
	})
}

func FuzzClaim(f *testing.F) {
	f.Add([]byte(result))
	f.Add([]byte(`{"outcome":"failed","last_message":"\u001b"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseClaim(text)
		if err != nil && c != (Claim{}) {
			t.Errorf("value beside an error: %+v", c)
		}
		if strings.ContainsAny(c.Reason+c.LastMessage+c.Trouble, "\x1b\x07\r\x00") {
			t.Errorf("not plain: %+v", c)
		}
	})
}
