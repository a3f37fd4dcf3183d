package demo

import (
	"fmt"
	"strings"

	"aibox/internal/plain"
)

// diffContext is how many equal lines surround a change.
const diffContext = 3

// diffLine is one line of a comparison: kind is ' ', '-' or '+'.
type diffLine struct {
	kind byte
	text string
}

// unifiedDiff returns the changes from old to new in the unified format, empty
// for none, with every line made printable.
func unifiedDiff(name string, old, new []byte) string {
	lines, ok := compare(splitLines(old), splitLines(new))
	if !ok {
		return name + " has too many lines to compare\n"
	}
	near := make([]bool, len(lines))
	changed := false
	for i, l := range lines {
		if l.kind == ' ' {
			continue
		}
		changed = true
		for j := max(0, i-diffContext); j <= min(len(lines)-1, i+diffContext); j++ {
			near[j] = true
		}
	}
	if !changed {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- a/%s\n+++ b/%s\n", name, name)
	oldLine, newLine := 1, 1
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && near[end] == near[i] {
			end++
		}
		hunk := lines[i:end]
		oldCount, newCount := count(hunk)
		if near[i] {
			fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", oldLine, oldCount, newLine, newCount)
			for _, l := range hunk {
				fmt.Fprintf(&out, "%c%s\n", l.kind, plain.Line(l.text))
			}
		}
		oldLine, newLine, i = oldLine+oldCount, newLine+newCount, end
	}
	return out.String()
}

// count returns how many of the lines are in the old and in the new text.
func count(lines []diffLine) (old, new int) {
	for _, l := range lines {
		if l.kind != '+' {
			old++
		}
		if l.kind != '-' {
			new++
		}
	}
	return old, new
}

// compare aligns two texts along their longest common subsequence of lines. It
// takes len(a)*len(b) steps, hence ok is false over maxDiffLines.
func compare(a, b []string) (lines []diffLine, ok bool) {
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		return nil, false
	}
	common := make([][]int, len(a)+1) // common[i][j]: of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, diffLine{' ', a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			lines = append(lines, diffLine{'-', a[i]})
			i++
		default:
			lines = append(lines, diffLine{'+', b[j]})
			j++
		}
	}
	return lines, true
}

// splitLines splits text into lines without their ends.
func splitLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
