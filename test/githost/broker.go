package githost

import (
	"fmt"
	"strings"

	"aibox/internal/border/gitgate/route"
	"aibox/internal/wire"
)

// ByBroker is the environment by which git in a VM reaches remotes such as
// "github.com/me/app", for a broker on another port of the loopback.
func ByBroker(port string, remotes ...string) []string {
	settings := route.Settings(remotes)
	env := []string{fmt.Sprint("GIT_CONFIG_COUNT=", len(settings))}
	for i, s := range settings {
		name := strings.ReplaceAll(s.Name, fmt.Sprint(":", wire.GitPort), ":"+port)
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.Value))
	}
	return env
}
