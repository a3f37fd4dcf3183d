package boot

import (
	"fmt"
	"strings"
	"testing"
)

func image() accounts {
	return accounts{
		passwd:  "root:x:0:0:root:/root:/bin/bash\ngames:x:5:60:games:/usr/games:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin",
		group:   "root:x:0:\ntty:x:5:\ndialout:x:20:\nusers:x:100:\n",
		shadow:  "root:*:1:0:99999:7:::\ngames:*:1:0:99999:7:::\n",
		gshadow: "root:*::\ndialout:*::\n",
		subuid:  "old:100000:65536\n",
	}
}

func TestWithUser(t *testing.T) {
	for name, c := range map[string]struct {
		uid, gid     int
		has, hasNot  []string // lines of passwd and group
		shadowHasNot string
		sub          int
	}{
		"plain":      {uid: 1000, gid: 1000, has: []string{"games:x:5:", "dialout:x:20:", "user:x:1000:1000::/home/user:/bin/bash", "user:x:1000:\n"}, sub: 524288},
		"macOS":      {uid: 501, gid: 20, has: []string{"user:x:501:20:", "user:x:20:\n"}, hasNot: []string{"dialout"}, sub: 524288},
		"system id":  {uid: 5, gid: 5, has: []string{"user:x:5:5:", "user:x:5:\n"}, hasNot: []string{"games", "tty"}, shadowHasNot: "games", sub: 524288},
		"group root": {uid: 1000, gid: 0, has: []string{"user:x:1000:0:", "root:x:0:\n"}, hasNot: []string{"user:x:0:\n"}, sub: 524288},
		"nobody":     {uid: 65534, gid: 65534, has: []string{"user:x:65534:65534:"}, hasNot: []string{"nobody"}, sub: 524288},
		"in range":   {uid: 524300, gid: 589825, has: []string{"user:x:524300:589825:"}, sub: 655360},
		"highest":    {uid: maxID, gid: maxID, has: []string{"user:x:4294967294:4294967294:"}, sub: 524288},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := image().withUser(c.uid, c.gid)
			if err != nil {
				t.Fatal(err)
			}
			text := got.passwd + got.group
			for _, want := range c.has {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			for _, not := range c.hasNot {
				if strings.Contains(text, not) {
					t.Errorf("%q is left in\n%s", not, text)
				}
			}
			if c.shadowHasNot != "" && strings.Contains(got.shadow, c.shadowHasNot) {
				t.Errorf("shadow keeps %s", c.shadowHasNot)
			}
			if !strings.HasPrefix(text, "root:x:0:0:") || !strings.Contains(got.shadow, "\nuser:!:") {
				t.Errorf("root or the lock is missing:\n%s%s", text, got.shadow)
			}
			if want := fmt.Sprintf("user:%d:65536\n", c.sub); got.subuid != want || got.subgid != want {
				t.Errorf("subuid %q, subgid %q, want %q", got.subuid, got.subgid, want)
			}
		})
	}
}

func TestWithUserRefuses(t *testing.T) {
	for _, ids := range [][2]int{{0, 0}, {0, 1000}, {-1, 1000}, {1000, -1}, {maxID + 1, 1000}, {1000, maxID + 1}} {
		if got, err := image().withUser(ids[0], ids[1]); err == nil || got != (accounts{}) {
			t.Errorf("withUser(%d, %d) = %+v, %v, want an error alone", ids[0], ids[1], got, err)
		}
	}
}

func FuzzWithUser(f *testing.F) {
	f.Add(image().passwd, image().group, 1000, 20)
	f.Add("user:x:7:7::/:/bin/sh\n::\nx", "user:x:9:\n", 7, 9)
	f.Fuzz(func(t *testing.T, passwd, group string, uid, gid int) {
		got, err := accounts{passwd: passwd, group: group}.withUser(uid, gid)
		if err != nil {
			return
		}
		owners := 0
		for line := range strings.Lines(got.passwd) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), ":")
			if fields[0] == "user" || len(fields) > 2 && fields[2] == fmt.Sprint(uid) {
				owners++
			}
		}
		if owners != 1 {
			t.Errorf("%d accounts are the user's:\n%s", owners, got.passwd)
		}
	})
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"aibox": true, "a-1": true, "": false, "-a": false, "a-": false, "a.b": false, "a b": false, "ä": false,
		strings.Repeat("a", 63): true, strings.Repeat("a", 64): false,
	} {
		if got := validHostname(name); got != want {
			t.Errorf("validHostname(%q) = %v", name, got)
		}
	}
	for zone, want := range map[string]bool{
		"UTC": true, "Europe/Berlin": true, "America/Argentina/Buenos_Aires": true, "Etc/GMT+5": true, "America/Port-au-Prince": true,
		"": false, "/etc/passwd": false, "../x": false, "Europe/../x": false, "Europe//Berlin": false, "a/": false, "a b": false,
		".hidden": false, strings.Repeat("a", 65): false, "a\n": false,
	} {
		if got := validZone(zone); got != want {
			t.Errorf("validZone(%q) = %v", zone, got)
		}
	}
}

func TestProfileQuotesThePath(t *testing.T) {
	want := "PATH='/a b:/c'\\''d:/$x'\nexport PATH\n"
	if got := profile("/a b:/c'd:/$x"); got != want {
		t.Errorf("profile = %q, want %q", got, want)
	}
}
