package work

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Names of the results of Net.
const (
	Download = "download"
	Upload   = "upload"
	Requests = "requests"
	Connects = "connects"
)

// Size of the work on the network.
const (
	TransferMB   = 64
	RequestCount = 1000
	ConnectCount = 200
	SmallBytes   = 1000
)

// Paths of the server that Net asks; package load serves them.
const (
	PathBig   = "/big"   // TransferMB
	PathSmall = "/small" // SmallBytes
	PathTake  = "/take"  // reads a body
)

// Way is how a program in the VM reaches a server: straight, or by CONNECT
// through a proxy, as all that speaks TLS does.
type Way struct{ Proxy, Server string }

// Dial opens a connection to the server.
func (w Way) Dial() (net.Conn, error) {
	if w.Proxy == "" {
		return net.Dial("tcp", w.Server)
	}
	conn, err := net.Dial("tcp", w.Proxy)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", w.Server, w.Server); err != nil {
		return nil, err
	}
	// The server says nothing before it is asked, so nothing is left in the reader.
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the proxy answered %s", resp.Status)
	}
	return conn, nil
}

// Net measures one connection's throughput both ways, small requests one after
// the other on one connection, and connections with one request each.
func Net(w Way) (Results, error) {
	r := Results{}
	for _, step := range []struct {
		name   string
		amount float64
		do     func() error
	}{
		{Download, TransferMB, func() error { return w.exchange(1, get(PathBig), TransferMB*megabyte) }},
		{Upload, TransferMB, w.upload},
		{Requests, RequestCount, func() error { return w.exchange(RequestCount, get(PathSmall), SmallBytes) }},
		{Connects, ConnectCount, func() error {
			for range ConnectCount {
				if err := w.Once(); err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		took, err := timed(step.do)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
		r[step.name] = step.amount / took
	}
	return r, nil
}

// Once makes a connection and sends one small request over it.
func (w Way) Once() error { return w.exchange(1, get(PathSmall), SmallBytes) }

func get(path string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: bench\r\n\r\n"
}

// exchange sends the request some times on one connection, each after the last
// answer, whose body must have the size.
func (w Way) exchange(times int, request string, size int64) error {
	conn, err := w.Dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	r := bufio.NewReaderSize(conn, 64<<10)
	for range times {
		if _, err := io.WriteString(conn, request); err != nil {
			return err
		}
		if err := answer(r, size); err != nil {
			return err
		}
	}
	return nil
}

func answer(r *bufio.Reader, size int64) error {
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && (n != size || resp.StatusCode != http.StatusOK) {
		err = fmt.Errorf("%s with %d bytes", resp.Status, n)
	}
	return err
}

func (w Way) upload() error {
	conn, err := w.Dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: bench\r\nContent-Length: %d\r\n\r\n", PathTake, TransferMB*megabyte)
	if err != nil {
		return err
	}
	chunk := []byte(strings.Repeat("u", 64<<10))
	for range TransferMB * megabyte / len(chunk) {
		if _, err := conn.Write(chunk); err != nil {
			return err
		}
	}
	return answer(bufio.NewReader(conn), 0)
}
