// Package report turns what the bench measured into its table: medians, their
// spread, ratios, and whether each goal is met.
package report

import (
	"fmt"
	"math"
	"slices"
)

// Series is what one side said, one value a round, in its row's unit.
type Series []float64

// Median is the middle value, the higher one of two; NaN of nothing.
func (s Series) Median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return s.sorted()[len(s)/2]
}

// Spread is half of the middle half in percent of the median.
func (s Series) Spread() float64 {
	if len(s) == 0 || s.Median() == 0 {
		return 0
	}
	sorted := s.sorted()
	return 50 * (sorted[len(s)*3/4] - sorted[len(s)/4]) / s.Median()
}

func (s Series) sorted() Series { return slices.Sorted(slices.Values(s)) }

// cell is the median with its unit, and where there is more than one value with
// its spread and their number.
func (s Series) cell(unit string) string {
	text := number(s.Median()) + " " + unit
	if len(s) > 1 {
		text += fmt.Sprintf(" ±%.0f%% of %d", s.Spread(), len(s))
	}
	return text
}

// number has three figures that count.
func number(v float64) string {
	switch {
	case math.Abs(v) >= 100:
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
