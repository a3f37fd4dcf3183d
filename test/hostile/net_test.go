//go:build hostile

package hostile

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"aibox/internal/border/egress"
	"aibox/internal/border/egress/record"
)

func (x *scene) network(t *testing.T) {
	attack(t, "network: find a card", "no device, no driver", false, func(t *testing.T) {
		if out := x.vm.must(t, "ls /sys/class/net"); strings.TrimSpace(out) != "lo" {
			t.Errorf("cards: %q", out)
		}
	})
	own := "192.0.2.1"
	if addrs, err := net.InterfaceAddrs(); err == nil {
		for _, a := range addrs {
			if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
				own = ip.IP.String()
			}
		}
	}
	for name, command := range sorted(map[string]string{
		"connect to the metadata address": "timeout 5 bash -c 'exec 3<>/dev/tcp/169.254.169.254/80'",
		"connect to the host's address":   "timeout 5 bash -c 'exec 3<>/dev/tcp/" + own + "/22'",
		"connect to the usual gateway":    "timeout 5 bash -c 'exec 3<>/dev/tcp/10.0.2.2/22'",
		"ask a name server":               `timeout 5 python3 -c "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.53', 53))"`,
		"send a raw packet":               `timeout 5 python3 -c "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).sendto(b'x'*8, ('192.0.2.1', 0))"`,
		"reach the host by vsock":         "/project/attacker vm vsock",
		"open a tunnel device":            "test -c /dev/net/tun && head -c 0 /dev/net/tun",
		"open the machine's memory":       "test -c /dev/mem && head -c 1 /dev/mem",
		"load a module":                   "test -e /proc/modules",
	}) {
		attack(t, "network: "+name, "no device, no driver", false, func(t *testing.T) { x.vm.refused(t, command) })
	}
}

// unreached runs an attack and fails the test if the canary was reached.
func (x *scene) unreached(t *testing.T, do func() string) {
	t.Helper()
	before := x.canary.count()
	answer := do()
	if n := x.canary.count() - before; n != 0 {
		t.Errorf("the host's server was reached %d times", n)
	}
	if strings.Contains(answer, fmt.Sprintf("reached %d", x.canary.port)) || strings.Contains(answer, " 200 ") {
		t.Errorf("answer: %q", tail(answer, 400))
	}
	if answer == "" {
		t.Log("no answer")
	}
}

// reachedListed is the control: the listed port answers to such a request.
func (x *scene) reachedListed(t *testing.T) {
	t.Helper()
	text := fmt.Sprintf("GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", x.listed.port, x.listed.port)
	if got := x.vm.raw(t, 3128, text); !strings.Contains(got, fmt.Sprintf("reached %d", x.listed.port)) {
		t.Fatalf("control: the listed port answers %q", got)
	}
}

func (x *scene) spelledAddresses(t *testing.T) {
	x.reachedListed(t)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []string{
		"127.0.0.1", "127.1", "127.0.1", "127.0.0.1.", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.000.000.001", "127.8.8.8",
		"0", "0.0.0.0", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[fe80::1%25lo]", "[::1%25lo]",
		"localhost", "LOCALHOST", "localhost.", "localhost.localdomain", "ip6-localhost", "a.localhost", host,
		"①②⑦.⓪.⓪.①", "127。0。0。1", "%31%32%37.0.0.1", "user@127.0.0.1", "a.example@127.0.0.1", "127.0.0.1%00.example", "127.0.0.1#.example", "127.0.0.1\\.example", "169.254.169.254", "metadata.google.internal", "[fd00:ec2::254]",
	} {
		attack(t, "proxy: CONNECT and GET "+a, "egress: allow list", false, func(t *testing.T) {
			target := fmt.Sprintf("%s:%d", a, x.canary.port)
			x.unreached(t, func() string {
				return x.vm.raw(t, 3128, "CONNECT "+target+" HTTP/1.1\r\nHost: "+target+"\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n") +
					x.vm.raw(t, 3128, "GET http://"+target+"/ HTTP/1.1\r\nHost: "+target+"\r\nConnection: close\r\n\r\n")
			})
		})
	}
}

// resolved are addresses of the host's own networks, one class each.
func resolved() []string {
	return []string{
		"127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.3.4", "192.168.1.1", "100.64.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255",
		"::1", "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "2002:7f00:1::", "::127.0.0.1",
	}
}

// scriptedNames are the answers of the resolver. One list per look-up.
func scriptedNames() map[string][][]string {
	names := map[string][][]string{
		"listed.vm.example":  {{"127.0.0.1"}},
		"rebinds.vm.example": {{"127.0.0.1"}, {"::1"}, {"127.0.0.2"}},
		"mixed.vm.example":   {{"127.0.0.1", "::1"}},
	}
	for i, a := range resolved() {
		names[fmt.Sprintf("n%d.vm.example", i)] = [][]string{{a}}
	}
	return names
}

func (x *scene) get(t *testing.T, name string, port int) string {
	t.Helper()
	return x.vm.raw(t, 3128, fmt.Sprintf("GET http://%s:%d/ HTTP/1.1\r\nHost: %s:%d\r\nConnection: close\r\n\r\n", name, port, name, port))
}

func (x *scene) resolvedAddresses(t *testing.T) {
	const guard = "egress: addresses"
	for i, a := range resolved() {
		attack(t, "proxy: an allowed name that resolves to "+a, guard, a == "127.0.0.1", func(t *testing.T) {
			if a == "127.0.0.1" { // the list names this very address with the other port
				if got := x.get(t, "listed.vm.example", x.listed.port); !strings.Contains(got, "reached") {
					t.Fatalf("control: %q", got)
				}
			}
			x.unreached(t, func() string {
				got := x.get(t, fmt.Sprintf("n%d.vm.example", i), x.canary.port)
				if !strings.Contains(got, " 403 ") {
					t.Errorf("answer: %q", got)
				}
				return got
			})
		})
	}
	attack(t, "proxy: a name whose second answer is another address", guard, true, func(t *testing.T) {
		if got := x.get(t, "rebinds.vm.example", x.listed.port); !strings.Contains(got, "reached") {
			t.Fatalf("control: the first answer: %q", got)
		}
		for range 2 {
			if got := x.get(t, "rebinds.vm.example", x.listed.port); !strings.Contains(got, " 403 ") {
				t.Errorf("a later answer: %q", got)
			}
		}
	})
	attack(t, "proxy: a name with a good and a bad address", guard, false, func(t *testing.T) {
		if got := x.get(t, "mixed.vm.example", x.listed.port); !strings.Contains(got, " 403 ") {
			t.Errorf("answer: %q", got)
		}
	})
}

// clean fails the test if a text for the user holds a control character.
func clean(t *testing.T, what, text string) {
	t.Helper()
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			t.Errorf("%s holds %q: %q", what, r, tail(text, 300))
			return
		}
	}
}

func (x *scene) proxyFloods(t *testing.T) {
	const guard = "egress: limits"
	attack(t, "proxy: 1000 connections at a time", guard, false, func(t *testing.T) {
		out := x.vm.must(t, "/project/attacker vm flood 3128 1000")
		t.Log(out)
		for start := time.Now(); ; time.Sleep(time.Second) { // until what waits in the VM was served
			if got := x.get(t, "127.0.0.1", x.listed.port); strings.Contains(got, "reached") {
				return
			} else if time.Since(start) > patience/2 {
				t.Fatalf("the proxy serves nobody any more: %q", got)
			}
		}
	})
	attack(t, "proxy: a head of 4 MiB in one line", guard, false, func(t *testing.T) {
		x.unreached(t, func() string {
			return x.vm.raw(t, 3128, "GET http://127.0.0.1/"+strings.Repeat("a", 4<<20)+" HTTP/1.1\r\n\r\n")
		})
		x.reachedListed(t)
	})
	attack(t, "proxy: 100000 header lines", guard, false, func(t *testing.T) {
		before := x.listed.count()
		got := x.vm.raw(t, 3128, fmt.Sprintf("GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n", x.listed.port, x.listed.port, strings.Repeat("A: b\r\n", 100000)))
		if x.listed.count() != before || strings.Contains(got, " 200 ") {
			t.Errorf("it passed: %q", tail(got, 200))
		}
		x.reachedListed(t)
	})
	attack(t, "proxy: a head that takes its time", guard, false, func(t *testing.T) { x.vm.refused(t, "/project/attacker vm slow 3128") })
	attack(t, "proxy.log: control characters in a name", "plain text only", false, func(t *testing.T) {
		for _, name := range []string{"\x1b[2Jevil.example.org", "evil\x07.example.org", "evil.example.org\r.x", "evil\u202e.example.org", "a\nb.example.org"} {
			x.vm.raw(t, 3128, "CONNECT "+name+":443 HTTP/1.1\r\n\r\n")
		}
		text, err := os.ReadFile(filepath.Join(x.state(), "proxy.log"))
		if err != nil {
			t.Fatal(err)
		}
		clean(t, "proxy.log", string(text))
	})
}

// TestProxyLog asks a proxy for more names than its log has room for.
func TestProxyLog(t *testing.T) {
	attack(t, "proxy.log: 5000 names", "egress: limits", false, func(t *testing.T) {
		log, err := os.Create(filepath.Join(t.TempDir(), "proxy.log"))
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		recorder := record.New(log, time.Now)
		proxy := egress.New(egress.Config{Recorder: recorder})
		for i := range 5000 {
			host, guest := sockets(t)
			go proxy.Serve(host)
			fmt.Fprintf(guest, "CONNECT %s%d.example.org:443 HTTP/1.1\r\n\r\n", strings.Repeat("a", 50), i)
			if _, err := io.ReadFull(guest, make([]byte, 12)); err != nil {
				t.Fatal(err)
			}
			guest.Close()
		}
		recorder.Close()
		text, err := os.ReadFile(log.Name())
		if lines := strings.Count(string(text), "\n"); err != nil || len(text) > 1<<20 || lines > 2100 || lines < 1000 {
			t.Errorf("proxy.log: %d bytes, %d lines, %v", len(text), lines, err)
		}
	})
}
