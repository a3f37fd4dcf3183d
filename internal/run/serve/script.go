package serve

import (
	"context"
	"net"
	"net/netip"
	"sync"

	"aibox/internal/border/egress"
)

// scripted is a resolver whose answers a test sets.
type scripted struct {
	lists map[string][][]string

	mu    sync.Mutex
	asked map[string]int
}

// Script returns a resolver for tests: for each name the lists of addresses it
// answers, one after the other, the last one for all further look-ups.
func Script(lists map[string][][]string) egress.Resolver {
	return &scripted{lists: lists, asked: map[string]int{}}
}

// LookupNetIP implements egress.Resolver.
func (s *scripted) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	addrs, err := s.answer(host)
	if err == nil && addrs == nil {
		err = &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return addrs, err
}

func (s *scripted) answer(name string) ([]netip.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lists := s.lists[name]
	if len(lists) == 0 {
		return nil, nil
	}
	list := lists[min(s.asked[name], len(lists)-1)]
	s.asked[name]++
	var addrs []netip.Addr
	for _, text := range list {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}
