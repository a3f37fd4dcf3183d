// Package progress shows how far a build of the image is: a bar on a terminal,
// plain lines elsewhere.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"

	"aibox/image/build"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// barWidth leaves room for the text in a terminal of 80 columns.
const barWidth = 20

// redraw bounds how often the bar is drawn: a compilation prints many lines.
const redraw = 100 * time.Millisecond

// New returns a reporter that writes to out. A bar needs a terminal that can
// move its cursor, and a user who did not ask for plain output by NO_COLOR.
func New(out *os.File) build.Reporter {
	if term.IsTerminal(int(out.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		return &bar{lines: lines{out}}
	}
	return &lines{out}
}

// lines reports by whole lines.
type lines struct{ out io.Writer }

func (l *lines) Begin(step string, number, of, _ int) {
	fmt.Fprintf(l.out, "image: %d/%d %s\n", number, of, step)
}

func (l *lines) Progress() {}

func (l *lines) End(step string, took time.Duration, err error) {
	if err == nil {
		fmt.Fprintf(l.out, "image: %s: done in %.1f s\n", step, took.Seconds())
	}
}

func (l *lines) Note(text string) { fmt.Fprintf(l.out, "image: %s\n", text) }

// bar shows the step at work and leaves a line for each that is done.
type bar struct {
	lines
	now *progressbar.ProgressBar
}

func (b *bar) Begin(step string, number, of, steps int) {
	if steps == 0 {
		steps = -1 // a spinner
	}
	b.now = progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(b.out),
		progressbar.OptionSetDescription(fmt.Sprintf("image: %d/%d %s", number, of, step)),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionThrottle(redraw),
		progressbar.OptionSetPredictTime(steps > 0),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionClearOnFinish())
	b.draw(b.now.RenderBlank())
}

// Progress moves the bar; past its end it stays full, since the number of lines
// was a guess.
func (b *bar) Progress() {
	if b.now == nil {
		return
	}
	if most := b.now.GetMax64(); most < 0 || b.now.State().CurrentNum < most-1 {
		b.draw(b.now.Add(1))
	}
}

func (b *bar) End(step string, took time.Duration, err error) {
	b.draw(b.now.Finish())
	b.now = nil
	b.lines.End(step, took, err)
}

func (b *bar) Note(text string) {
	if b.now == nil {
		b.lines.Note(text)
		return
	}
	_, err := progressbar.Bprintln(b.now, "image:", text)
	b.draw(err)
}

// draw takes the result of drawing: a terminal that went away is no reason to
// end the build.
func (b *bar) draw(error) {}
