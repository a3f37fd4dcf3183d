// Package allow writes allow lists for tests as a user does.
package allow

import (
	"testing"

	"aibox/internal/hosts"
)

// List reads lines of a config's allow list, such as "example.com:80".
func List(t testing.TB, lines ...string) (list hosts.List) {
	t.Helper()
	for _, line := range lines {
		e, err := hosts.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}
