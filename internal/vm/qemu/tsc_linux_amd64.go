package qemu

import (
	"os"
	"strings"
	"time"
)

// readTSC reads the processor's time stamp counter.
func readTSC() uint64

// hostTSC measures, within some 10 ms, how fast the host's counter runs, in kHz;
// 0 where the host itself does not trust it. Under software emulation the
// guest's counter is the host's, but the guest cannot find out its speed: its
// way, by the interval timer, is too slow under emulation. A guest that does not
// know counts timer interrupts instead, and its clock loses every one that comes late.
func hostTSC() int {
	source, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	if name := strings.TrimSpace(string(source)); err != nil || name != "tsc" && name != "kvm-clock" {
		return 0
	}
	at, count := sampleTSC()
	time.Sleep(10 * time.Millisecond)
	at2, count2 := sampleTSC()
	khz := int(float64(count2-count) / float64(at2.Sub(at).Nanoseconds()) * 1e6)
	if khz < 100_000 || khz > 20_000_000 {
		return 0
	}
	return khz
}

// sampleTSC returns the time and the counter at the same moment: of some pairs
// the one between whose halves least time went by.
func sampleTSC() (at time.Time, count uint64) {
	best := ^uint64(0)
	for range 8 {
		before := readTSC()
		now := time.Now()
		after := readTSC()
		if after-before < best {
			best, at, count = after-before, now, before+(after-before)/2
		}
	}
	return at, count
}
