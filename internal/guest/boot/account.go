package boot

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"aibox/internal/guest/names"
	"aibox/internal/wire"
)

// maxID is the highest id a user can have; the one above means "no id".
const maxID = 1<<32 - 2

// The ids that the user may give to processes of containers.
const (
	subIDs     = 65536
	firstSubID = 524288
)

// accounts are the contents of the files in /etc that name users and groups.
type accounts struct{ passwd, group, shadow, gshadow, subuid, subgid string }

// withUser returns the image's accounts with the user added. An account of the
// image with the same id or name gives way: the user's files must show the
// user as owner. Root's never does.
func (a accounts) withUser(uid, gid int) (accounts, error) {
	switch {
	case uid == 0:
		return accounts{}, errors.New("the user cannot be root")
	case uid < 0 || uid > maxID || gid < 0 || gid > maxID:
		return accounts{}, fmt.Errorf("user id %d or group id %d is out of range", uid, gid)
	}
	user, u, g := wire.GuestUser, strconv.Itoa(uid), strconv.Itoa(gid)
	gone := func(fields []string) bool { return fields[0] == user || len(fields) > 2 && fields[2] == u }
	passwd, dropped := without(a.passwd, gone)
	shadow, _ := without(a.shadow, func(f []string) bool { return f[0] == user || dropped[f[0]] })
	group, droppedGroups := without(a.group, func(f []string) bool {
		return f[0] == user || gid != 0 && len(f) > 2 && f[2] == g
	})
	gshadow, _ := without(a.gshadow, func(f []string) bool { return f[0] == user || droppedGroups[f[0]] })
	if gid != 0 {
		group += fmt.Sprintf("%s:x:%s:\n", user, g)
		gshadow += user + ":!::\n"
	}
	sub := fmt.Sprintf("%s:%d:%d\n", user, subIDStart(uid, gid), subIDs)
	return accounts{
		passwd:  passwd + fmt.Sprintf("%s:x:%s:%s::%s:%s\n", user, u, g, wire.GuestHome, names.Shell),
		shadow:  shadow + user + ":!:19000::::::\n", // no password opens it
		group:   group,
		gshadow: gshadow,
		subuid:  sub,
		subgid:  sub,
	}, nil
}

// without returns the lines for which gone is false, and the names of the others.
func without(text string, gone func(fields []string) bool) (string, map[string]bool) {
	var kept strings.Builder
	dropped := map[string]bool{}
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		switch {
		case fields[0] == "":
		case gone(fields):
			dropped[fields[0]] = true
		default:
			kept.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return kept.String(), dropped
}

// subIDStart is the start of a range that holds neither id.
func subIDStart(uid, gid int) int {
	in := func(id, start int) bool { return id >= start && id < start+subIDs }
	start := firstSubID
	for in(uid, start) || in(gid, start) {
		start += subIDs
	}
	return start
}
