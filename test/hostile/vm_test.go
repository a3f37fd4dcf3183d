//go:build hostile

package hostile

import (
	"fmt"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"aibox/internal/run"
)

// scene is a running VM with what its attacks go for.
type scene struct {
	*box
	vm      *session
	listed  *server // its port of 127.0.0.1 is listed
	canary  *server // on the same port of both loopback addresses, not listed
	api     *server // in the Claude API's place
	secret  string  // a file of the user outside of all shares
	outside string  // its folder
	tools   string  // the folder that is mounted read-only
	key     string  // the API key
	on      string  // in front of attacks' names where the shares are no usual ones
}

// server records what reaches it.
type server struct {
	port int
	mu   sync.Mutex
	got  []*http.Request
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.got = append(s.got, r)
	s.mu.Unlock()
	switch r.URL.Path {
	case "/v1/redirect":
		w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		w.WriteHeader(http.StatusTemporaryRedirect)
	case "/v1/echo":
		w.Header().Set("X-Echo", r.Header.Get("X-Api-Key"))
		w.Header().Set("Set-Cookie", "session="+r.Header.Get("X-Api-Key"))
		w.WriteHeader(http.StatusEarlyHints)
	}
	fmt.Fprintf(w, "reached %d", s.port)
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

func (s *server) last() *http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got[len(s.got)-1]
}

// sorted goes through a map in the order of its keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// serve listens on the addresses, on one port.
func serve(t *testing.T, addresses ...string) *server {
	t.Helper()
	s := &server{}
	for _, a := range addresses {
		l, err := net.Listen("tcp", net.JoinHostPort(a, strconv.Itoa(s.port)))
		if err != nil {
			t.Fatal(err)
		}
		s.port = l.Addr().(*net.TCPAddr).Port
		h := httptest.NewUnstartedServer(s)
		h.Listener.Close()
		h.Listener = l
		h.Start()
		t.Cleanup(h.Close)
	}
	return s
}

func newScene(t *testing.T) *scene { return newSceneOn(t, "virtiofs", "") }

// newSceneOn is a scene whose files come by a kind of shares.
func newSceneOn(t *testing.T, shares, on string) *scene {
	t.Helper()
	x := &scene{on: on, box: newBox(t), listed: serve(t, "127.0.0.1"), canary: serve(t, "127.0.0.1", "::1"), api: serve(t, "127.0.0.1"), key: "sk-ant-hostile-" + strings.Repeat("k3y", 10)}
	x.outside, x.tools = filepath.Join(x.home, "outside"), filepath.Join(x.home, "tools")
	x.secret = filepath.Join(x.outside, "secret")
	for path, text := range map[string]string{x.secret: marker, filepath.Join(x.tools, "tool"): "original"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	x.config("shares: " + shares + "\n" + fmt.Sprintf("allow: [\"127.0.0.1:%d\", \"*.vm.example:%d\", \"*.vm.example:%d\"]\nmounts: [\"%s:/opt/tools\"]\nenv: [ANTHROPIC_API_KEY]\n",
		x.listed.port, x.listed.port, x.canary.port, x.tools))
	x.boot(t)
	return x
}

// boot starts the VM, again if the last one was lost.
func (x *scene) boot(t *testing.T) {
	t.Helper()
	x.vm = x.shell(t, func(r *run.Request) {
		r.TestOnlyHosts, r.APIKey, r.Upstream = scriptedNames(), x.key, fmt.Sprintf("http://127.0.0.1:%d", x.api.port)
	})
	mount := "/shares/m0 virtiofs rw"
	if x.on != "" {
		mount = "/shares 9p rw"
	}
	x.vm.must(t, asRoot("ls /run/aibox/shares/m0/tool && grep '"+mount+"' /proc/mounts"))
}

// TestInTheVM attacks from inside one VM as its root.
func TestInTheVM(t *testing.T) {
	x := newScene(t)
	for _, group := range []func(*testing.T){
		x.outOfShares, x.readOnlyShare, x.rightsOnShares, x.acrossShares,
		x.network, x.spelledAddresses, x.resolvedAddresses, x.smuggling, x.proxyFloods,
		x.apiPaths, x.apiRequests, x.apiKey, x.disks, x.plantForTheNextRun, x.console,
	} {
		select {
		case <-x.vm.ended: // an attack before was stopped with its VM
			x.boot(t)
		default:
		}
		group(t)
	}
	x.nextRun(t)
}
