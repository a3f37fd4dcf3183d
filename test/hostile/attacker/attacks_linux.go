package main

import (
	"errors"
	"fmt"
	"time"
)

// try is one attack on a sandbox; nil means that it worked.
type try struct {
	name string
	do   func(Target) error
}

// errSafe stands for an attack that has no place here.
var errSafe = errors.New("not tried here")

// deadline bounds one attack.
const deadline = 10 * time.Second

// attack runs all attacks on the sandbox.
func attack(t Target) (results []Result) {
	all := append(fileTries(), networkTries()...)
	all = append(all, processTries()...)
	all = append(all, kernelTries()...)
	if t.Role == "virtiofsd" {
		all = append(all, shareTries()...)
	}
	for _, a := range all {
		results = append(results, a.run(t))
	}
	return results
}

func (a try) run(t Target) Result {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v", p)
			}
		}()
		done <- a.do(t)
	}()
	select {
	case err := <-done:
		if err != nil {
			return Result{a.name, false, err.Error()}
		}
		return Result{a.name, true, "it worked"}
	case <-time.After(deadline):
		return Result{a.name, false, "no end within the deadline"}
	}
}
