package jail

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/crypto/ssh"
	"golang.org/x/net/dns/dnsmessage"

	"aibox/test/conns"
)

// newScene makes files, listeners and a name server for one victim.
func newScene(t *testing.T) scene {
	t.Helper()
	dir, err := os.MkdirTemp("", "jail")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"secret", "append", "write", "truncate", "remove", "rename", "link", "chmod", "chown", "times", "xattr"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := scene{
		Dir:          dir,
		Allowed:      listen(t, "tcp4", "127.0.0.1:0"),
		Refused:      listen(t, "tcp4", "127.0.0.1:0"),
		Refused6:     listen(t, "tcp6", "[::1]:0"),
		UnixPath:     listen(t, "unix", filepath.Join(dir, "socket")),
		UnixAbstract: listen(t, "unix", fmt.Sprintf("@%s", filepath.Base(dir))),
		DNS:          serveDNS(t),
	}
	s.UnixDatagram = filepath.Join(dir, "datagram")
	gram, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.UnixDatagram, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gram.Close() })
	s.TLS, s.CA = serveTLS(t)
	s.SSH, s.SSHKey = serveSSH(t)
	s.Policy = Policy{Terminal: true, ConnectTCP: []uint16{port(t, s.Allowed), port(t, s.TLS), port(t, s.SSH), port(t, s.DNS)}}.DNSFiles("/")
	return s
}

func port(t *testing.T, address string) uint16 {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(a.Port)
}

// listen accepts connections and echoes.
func listen(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l, func(c net.Conn) { _, _ = io.Copy(c, c) })
	return l.Addr().String()
}

func serve(t *testing.T, l net.Listener, one func(net.Conn)) {
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				one(c)
			}()
		}
	}()
}

func serveTLS(t *testing.T) (string, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"example.test"},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp4", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l, func(c net.Conn) { _, _ = io.Copy(c, c) })
	return l.Addr().String(), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// serveSSH says hello in each channel and returns its address and key.
func serveSSH(t *testing.T) (string, []byte) {
	t.Helper()
	signer := conns.HostKey(t)
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(signer)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l, func(c net.Conn) {
		_, channels, requests, err := ssh.NewServerConn(c, config)
		if err != nil {
			return
		}
		go ssh.DiscardRequests(requests)
		for c := range channels {
			if channel, _, err := c.Accept(); err == nil {
				_, _ = io.WriteString(channel, "hello")
				channel.Close()
			}
		}
	})
	return l.Addr().String(), ssh.MarshalAuthorizedKey(signer.PublicKey())
}

// serveDNS answers each question for an IPv4 address with 192.0.2.7, over UDP
// and, for names that begin with "tcp.", over TCP alone.
func serveDNS(t *testing.T) string {
	t.Helper()
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp4", udp.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { udp.Close(); tcp.Close() })
	go func() {
		for buf := make([]byte, 2000); ; {
			n, from, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := answer(buf[:n], false); reply != nil {
				_, _ = udp.WriteTo(reply, from)
			}
		}
	}()
	go func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 2000)
			if n, err := c.Read(buf); err == nil && n > 2 {
				reply := answer(buf[2:n], true)
				_, _ = c.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...))
			}
			c.Close()
		}
	}()
	return udp.LocalAddr().String()
}

func answer(query []byte, tcp bool) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	switch {
	case !tcp && strings.HasPrefix(q.Name.String(), "tcp."):
		m.Truncated = true
	case q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte{192, 0, 2, 7}},
		}}
	}
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}

// process is a running victim.
type process struct {
	*exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr *bytes.Buffer
	life   *os.File // ends when the victim's child does
}

func start(t *testing.T, s scene) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(filepath.Join(s.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ptmx.Close() })
	defer tty.Close()
	life, childLife, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { life.Close() })
	defer childLife.Close()
	childLeash, leash, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leash.Close() })
	defer childLeash.Close()

	p := &process{Cmd: exec.Command(exe), stderr: new(bytes.Buffer), life: life}
	p.Env = append(os.Environ(), victimEnv+"=1", "TZ=Europe/Berlin", "GORACE=log_path=stderr")
	p.ExtraFiles = []*os.File{log, tty, childLife, childLeash}
	p.Stderr = p.stderr
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = json.NewDecoder(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(3*patience, func() { _ = p.Process.Kill() })
	t.Cleanup(func() {
		timer.Stop()
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	if err := json.NewEncoder(p.in).Encode(s); err != nil {
		t.Fatal(err)
	}
	return p
}

// next is the victim's next result, nil at the end.
func (p *process) next(t *testing.T) *result {
	t.Helper()
	r := new(result)
	if err := p.out.Decode(r); err != nil {
		return nil
	}
	return r
}

// play runs one victim to its end.
func play(t *testing.T, s scene) map[string]result {
	t.Helper()
	p := start(t, s)
	p.in.Close()
	results := map[string]result{}
	for r := p.next(t); r != nil; r = p.next(t) {
		results[r.Name] = *r
	}
	if err := p.Wait(); err != nil || len(results) != len(s.Actions) {
		t.Fatalf("victim: %v after %d of %d actions: %s", err, len(results), len(s.Actions), p.stderr)
	}
	return results
}
