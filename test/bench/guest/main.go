//go:build linux

// Command guest is the bench's program inside a VM. In aibox's it is started by
// the session with jobs as arguments, in a peer's VM it is init, and prepares
// the VM first.
//
// Each job is NAME=KIND:ARGUMENT and gives results called NAME/what:
//
//	dir:FOLDER          work on files there
//	brief:FOLDER        a part of it
//	net:PROXY,SERVER    work on the network, without a proxy if it is empty
//
// and in a peer's VM also what mount mounts.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"aibox/test/bench/work"
)

func main() {
	if os.Getpid() == 1 {
		peer()
		return
	}
	if err := all(os.Args[1:], do).Print(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}

// all runs jobs in order; one that fails does not keep the others from running.
func all(jobs []string, do func(name, kind, argument string) (work.Results, error)) work.Outcome {
	o := work.Outcome{Results: work.Results{}, Failed: map[string]string{}}
	for _, job := range jobs {
		name, rest, _ := strings.Cut(job, "=")
		kind, argument, _ := strings.Cut(rest, ":")
		part, err := do(name, kind, argument)
		if err != nil {
			o.Failed[name] = err.Error()
		}
		for key, value := range part {
			o.Results[name+"/"+key] = value
		}
	}
	return o
}

func do(_, kind, argument string) (work.Results, error) {
	switch kind {
	case "dir":
		return work.Share(argument, ".")
	case "brief":
		return work.Brief(argument, ".")
	case "net":
		proxy, server, _ := strings.Cut(argument, ",")
		return work.Net(work.Way{Proxy: proxy, Server: server})
	}
	return nil, errors.New("unknown kind of job")
}
