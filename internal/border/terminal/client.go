package terminal

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/crypto/ssh"

	"aibox/internal/plain"
	"aibox/internal/wire"
)

// login does the handshake over conn and refuses whatever the server asks for.
func login(conn *gate, keys *Keys) (ssh.Conn, error) {
	client, channels, requests, err := ssh.NewClientConn(conn, "vm", &ssh.ClientConfig{
		Config: ssh.Config{
			KeyExchanges: []string{ssh.KeyExchangeCurve25519},
			Ciphers:      []string{ssh.CipherAES128GCM, ssh.CipherChaCha20Poly1305},
		},
		User:              wire.GuestUser,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(keys.client)},
		HostKeyCallback:   ssh.FixedHostKey(keys.host),
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
	})
	if err != nil {
		return nil, err
	}
	go refuse(client, channels, requests)
	return client, nil
}

// refuse says no to the server's channels and global requests until the
// connection ends, or ends it after MaxRefused of them.
func refuse(client ssh.Conn, channels <-chan ssh.NewChannel, requests <-chan *ssh.Request) {
	for n := 0; channels != nil || requests != nil; n++ {
		if n == MaxRefused {
			_ = client.Close()
		}
		select {
		case c, ok := <-channels:
			if !ok {
				channels = nil
				continue
			}
			_ = c.Reject(ssh.Prohibited, "no")
		case r, ok := <-requests:
			if !ok {
				requests = nil
				continue
			}
			if r.WantReply {
				_ = r.Reply(false, nil)
			}
		}
	}
}

// ask sends a request of the session's channel and wants it granted.
func ask(ch ssh.Channel, name string, payload any) error {
	var raw []byte
	if payload != nil {
		raw = ssh.Marshal(payload)
	}
	ok, err := ch.SendRequest(name, true, raw)
	if err == nil && !ok {
		err = errors.New("the VM refused it")
	}
	if err != nil {
		return fmt.Errorf("SSH request %s: %w", name, err)
	}
	return nil
}

// The payloads of RFC 4254, sections 6.2 to 6.10.
type (
	ptyRequest struct {
		Term          string
		Columns, Rows uint32
		Width, Height uint32 // in pixels, not known
		Modes         string
	}
	envRequest   struct{ Name, Value string }
	execRequest  struct{ Command string }
	windowChange struct{ Columns, Rows, Width, Height uint32 }
	exitStatus   struct{ Status uint32 }
	exitSignal   struct {
		Signal  string
		Core    bool
		Message string
		Lang    string
	}
)

// ptyModes asks for UTF-8 input (IUTF8, RFC 8160) and leaves the rest to the VM.
const ptyModes = "\x2a\x00\x00\x00\x01\x00"

func askEnv(ch ssh.Channel, env map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if err := ask(ch, "env", envRequest{name, env[name]}); err != nil {
			return err
		}
	}
	return nil
}

func askStart(ch ssh.Channel, command string) error {
	if command == "" {
		return ask(ch, "shell", nil)
	}
	return ask(ch, "exec", execRequest{command})
}

// plainError shows an error that may quote the VM as one short printable line.
type plainError struct{ error }

func (e plainError) Error() string { return plain.LineMax(e.error.Error(), maxErrorText) }
func (e plainError) Unwrap() error { return e.error }
