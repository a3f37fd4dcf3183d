package report

import (
	"fmt"
	"strings"
)

// Row is one measurement of aibox and what it is held against.
type Row struct {
	Name  string
	Unit  string // "s", "MB/s", "MB"
	Ours  Series
	Peers []Peer
	Note  string // what a reader must know of how it was measured
}

// Peer is what a row is held against.
type Peer struct {
	Name   string
	Values Series
	Goal   Goal
	// Absent says why there are no values.
	Absent string
	// Rest says what the time over the goal is spent on; it is printed when the goal is missed.
	Rest string
}

// Goal bounds aibox's median divided by the peer's. The zero Goal is none.
type Goal struct {
	Ratio float64
	Least bool // Ratio is the lowest that is fine, else the highest
}

// AtMost is a goal for what is better when it is less.
func AtMost(ratio float64) Goal { return Goal{Ratio: ratio} }

// AtLeast is a goal for what is better when it is more.
func AtLeast(ratio float64) Goal { return Goal{Ratio: ratio, Least: true} }

func (g Goal) none() bool { return g.Ratio == 0 }

func (g Goal) met(ratio float64) bool {
	if g.Least {
		return ratio >= g.Ratio
	}
	return ratio <= g.Ratio
}

func (g Goal) String() string {
	switch {
	case g.none():
		return ""
	case g.Least:
		return fmt.Sprintf("≥ %.2f", g.Ratio)
	}
	return fmt.Sprintf("≤ %.2f", g.Ratio)
}

// Limit is a peer that stands for a fixed bound in the row's unit.
func Limit(most float64, rest string) Peer {
	return Peer{Name: "a limit", Values: Series{most}, Goal: AtMost(1), Rest: rest}
}

// verdict is "met", "missed", or empty where there is no goal.
func (r Row) verdict(p Peer) string {
	switch {
	case p.Goal.none():
		return ""
	case len(p.Values) == 0 || len(r.Ours) == 0:
		return "not measured"
	case p.Goal.met(r.ratio(p)):
		return "met"
	}
	return "missed"
}

func (r Row) ratio(p Peer) float64 { return r.Ours.Median() / p.Values.Median() }

// Table is rows in Markdown, one line a peer, and below it a line for each
// note and each goal that was missed.
func Table(rows []Row) string {
	var b, notes, missed strings.Builder
	b.WriteString("| what | aibox | beside | its value | ratio | goal | |\n|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		if len(r.Peers) == 0 {
			fmt.Fprintf(&b, "| %s | %s | | | | | |\n", r.Name, r.ours())
		}
		for _, p := range r.Peers {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Name, r.ours(), r.against(p))
			if r.verdict(p) == "missed" {
				fmt.Fprintf(&missed, "- %s, beside %s: ratio %.2f, goal %s. %s\n", r.Name, p.Name, r.ratio(p), p.Goal, p.rest())
			}
		}
		if r.Note != "" {
			fmt.Fprintf(&notes, "- %s: %s\n", r.Name, r.Note)
		}
	}
	section(&b, "Missed", missed.String())
	section(&b, "Notes", notes.String())
	return b.String()
}

func section(b *strings.Builder, title, text string) {
	if text != "" {
		fmt.Fprintf(b, "\n## %s\n\n%s", title, text)
	}
}

func (r Row) ours() string {
	if len(r.Ours) == 0 {
		return "not measured"
	}
	return r.Ours.cell(r.Unit)
}

// against are the cells from the peer's name on.
func (r Row) against(p Peer) string {
	if len(p.Values) == 0 {
		return fmt.Sprintf("%s | not measured: %s | | %s | %s", p.Name, oneLine(p.Absent), p.Goal, r.verdict(p))
	}
	if len(r.Ours) == 0 {
		return fmt.Sprintf("%s | %s | | %s | %s", p.Name, p.Values.cell(r.Unit), p.Goal, r.verdict(p))
	}
	return fmt.Sprintf("%s | %s | %.2f | %s | %s", p.Name, p.Values.cell(r.Unit), r.ratio(p), p.Goal, r.verdict(p))
}

func (p Peer) rest() string {
	if p.Rest == "" {
		return "What the rest is spent on is not known."
	}
	return p.Rest
}

// oneLine is text for a cell of the table.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "|", "/")), " ")
	return text[:min(len(text), maxReason)]
}

// maxReason bounds the text of why something was not measured, in bytes.
const maxReason = 120
