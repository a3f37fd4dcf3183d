package idebridge

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"aibox/internal/border/idebridge/message"
	"aibox/internal/border/idebridge/policy"
	"aibox/internal/wire/single"
)

// tokenHeader carries the token in both handshakes.
const tokenHeader = "X-Claude-Code-Ide-Authorization"

// subprotocol is what both sides speak.
const subprotocol = "mcp"

// Config is what a Bridge needs. All of it comes from the host's side.
type Config struct {
	Policy policy.Policy
	// Token is what a client in the VM has to know.
	Token string
	// IDEToken and Port lead to the IDE, on 127.0.0.1.
	IDEToken string
	Port     uint16
	// HeldBack is told what was not passed on; it may be nil.
	HeldBack func(what string)
}

// Bridge serves connections of one VM. It is safe for concurrent use.
type Bridge struct {
	config Config
	server *http.Server
	client chan struct{} // holds the connected client
}

// New returns a bridge, which connects to nothing yet.
func New(c Config) *Bridge {
	if c.HeldBack == nil {
		c.HeldBack = func(string) {}
	}
	b := &Bridge{config: c, client: make(chan struct{}, 1)}
	b.server = &http.Server{
		Handler:                      http.HandlerFunc(b.handle),
		ReadHeaderTimeout:            headTime,
		MaxHeaderBytes:               maxHead,
		ErrorLog:                     slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // it would hold what the VM sent
		DisableGeneralOptionsHandler: true,
	}
	return b
}

// Serve serves one connection of the VM to its end.
func (b *Bridge) Serve(conn net.Conn) {
	single.Serve(b.server, conn)
}

// handle connects a client with the IDE until one of them ends.
func (b *Bridge) handle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	got := r.Header.Values(tokenHeader)
	if len(got) != 1 || subtle.ConstantTimeCompare([]byte(got[0]), []byte(b.config.Token)) != 1 {
		b.refuse(w, http.StatusUnauthorized, "a client without the token")
		return
	}
	select {
	case b.client <- struct{}{}:
	case <-time.After(leaveTime):
		b.refuse(w, http.StatusConflict, "a second client")
		return
	}
	defer func() { <-b.client }()
	ide, err := b.dial(r.Context())
	if err != nil {
		b.refuse(w, http.StatusBadGateway, "a client, since the IDE does not answer")
		return
	}
	defer ide.CloseNow()
	vm, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}})
	if err != nil {
		b.config.HeldBack("a client that speaks no WebSocket")
		return
	}
	defer vm.CloseNow()
	ide.SetReadLimit(message.Max)
	vm.SetReadLimit(message.Max)
	b.connect(vm, ide)
}

func (b *Bridge) refuse(w http.ResponseWriter, status int, what string) {
	b.config.HeldBack(what)
	http.Error(w, "aibox: "+what+" is refused", status)
}

// dial logs in to the IDE.
func (b *Bridge) dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	// no proxy of the environment's
	transport := &http.Transport{DialContext: new(net.Dialer).DialContext, DisableKeepAlives: true}
	conn, answer, err := websocket.Dial(ctx, fmt.Sprintf("ws://127.0.0.1:%d/", b.config.Port), &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		HTTPHeader:   http.Header{tokenHeader: {b.config.IDEToken}},
		Subprotocols: []string{subprotocol},
	})
	if err != nil {
		if answer != nil {
			return nil, fmt.Errorf("the IDE answers with status %d", answer.StatusCode)
		}
		return nil, errors.New("the IDE does not answer")
	}
	return conn, nil
}

// connect moves messages until one side ends or breaks the protocol.
func (b *Bridge) connect(vm, ide *websocket.Conn) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &session{policy: b.config.Policy, held: b.config.HeldBack, vm: vm, ide: ide, open: map[int64]waiting{}}
	var pumps sync.WaitGroup
	for _, pump := range []func(context.Context) error{s.fromVM, s.fromIDE} {
		pumps.Go(func() {
			defer cancel()
			if err := pump(ctx); websocket.CloseStatus(err) == websocket.StatusMessageTooBig || errors.Is(err, websocket.ErrMessageTooBig) {
				b.config.HeldBack("a message that is too large")
			}
		})
	}
	pumps.Wait()
}
