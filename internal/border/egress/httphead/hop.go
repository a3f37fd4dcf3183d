package httphead

import (
	"bufio"
	"net/http"
	"strings"
)

// Lists tells whether a comma-separated header contains the token.
func Lists(header http.Header, name, token string) bool {
	for _, value := range header[name] {
		for part := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.Trim(part, " \t"), token) {
				return true
			}
		}
	}
	return false
}

// Upgrades tells whether a head asks for, or grants, a WebSocket: the one
// change of protocol that is passed on.
func Upgrades(header http.Header) bool {
	return Lists(header, "Connection", "upgrade") && strings.EqualFold(header.Get("Upgrade"), "websocket")
}

// DropHop removes the fields that concern one connection only.
func DropHop(header http.Header) {
	for _, value := range header["Connection"] {
		for name := range strings.SplitSeq(value, ",") {
			header.Del(strings.Trim(name, " \t"))
		}
	}
	for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization",
		"Proxy-Authenticate", "Te", "Trailer", "Transfer-Encoding", "Upgrade"} {
		header.Del(name)
	}
}

// ReadTrailer reads what follows the last chunk of a body and drops it.
func ReadTrailer(r *bufio.Reader) error {
	for total := 0; total <= maxTrailer; {
		line, err := readLine(r)
		if err != nil || line == "" {
			return err
		}
		total += len(line)
	}
	return Error("has too large a trailer")
}
