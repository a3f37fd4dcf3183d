// Command fuzzall runs every fuzz target of the module for a while, one on each
// CPU at a time, and prints a summary. FUZZTIME (default 10s) is the time for each
// target and FUZZTOTAL (default 15m) bounds all of them: where both do not fit,
// each gets its share. Arguments choose packages by folder, such as
// internal/border. It ends with 1 if a target failed.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := fuzzAll(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzzall:", err)
	}
	if !ok || err != nil {
		stop()
		os.Exit(1)
	}
}

// fuzzAll finds the targets, runs them and prints how they ended.
func fuzzAll(ctx context.Context, dirs []string) (ok bool, err error) {
	each, err := duration("FUZZTIME", 10*time.Second)
	if err != nil {
		return false, err
	}
	total, err := duration("FUZZTOTAL", 15*time.Minute)
	if err != nil {
		return false, err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return false, err
	}
	targets, err := find(root, dirs)
	if err != nil {
		return false, err
	}
	if len(targets) == 0 {
		return false, fmt.Errorf("no fuzz target in %v", dirs)
	}
	each = share(each, total*time.Duration(runtime.NumCPU()), len(targets))
	fmt.Printf("%d fuzz targets, %v each\n", len(targets), each)
	failed := 0
	for r := range runAll(ctx, root, targets, each) {
		fmt.Println(r)
		if r.err != nil {
			failed++
		}
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	fmt.Printf("%d passed, %d failed, 0 skipped\n", len(targets)-failed, failed)
	return failed == 0, nil
}

// duration reads a time from the environment.
func duration(name string, otherwise time.Duration) (time.Duration, error) {
	text := os.Getenv(name)
	if text == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s=%q is no time: write it as 10s or 5m", name, text)
	}
	return d, nil
}

// share is the time for each of n targets that fits into total, at least a second.
func share(each, total time.Duration, n int) time.Duration {
	return max(min(each, total/time.Duration(n)).Truncate(time.Second), time.Second)
}
