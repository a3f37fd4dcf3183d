//go:build linux

package main

import "time"

// rounds does a round at most so many times, and none after the budget is spent,
// so that a slow machine has fewer values and not a longer run. The table says how
// many values a median is of.
func rounds(most int, budget time.Duration, do func(round int) error) error {
	start := time.Now()
	for round := range most {
		if round > 0 && time.Since(start) > budget {
			return nil
		}
		if err := do(round); err != nil {
			return err
		}
	}
	return nil
}
