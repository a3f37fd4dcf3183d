package route

import (
	"fmt"
	"strings"

	"aibox/internal/wire"
)

// Settings is the configuration of git in the VM that leads the addresses of
// the repositories, each host/path, to the gate, whatever form they are written in.
//
// git replaces the beginning of an address, so another repository whose name
// begins with a listed one's comes there too. Where the VM may reach its host by
// the proxy, the gate sends git back there. The session's NO_PROXY, which names
// 127.0.0.1, keeps the gate itself off the proxy.
func Settings(remotes []string) []wire.Setting {
	gate := fmt.Sprintf("http://127.0.0.1:%d", wire.GitPort)
	var list []wire.Setting
	for _, remote := range remotes {
		host, path, _ := strings.Cut(remote, "/")
		name := "url." + gate + "/" + remote + ".insteadOf"
		for _, address := range []string{
			"https://" + remote, "git@" + host + ":" + path, "ssh://git@" + remote,
		} {
			list = append(list, wire.Setting{Name: name, Value: address})
		}
	}
	return list
}
