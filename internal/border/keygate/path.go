package keygate

import (
	"errors"
	"net/http"
	"strings"
)

// Path decides about a request by its method and its target as sent, and returns
// the path to ask upstream. A target in absolute form counts by its path alone.
// Only /v1/… and /api/hello pass, and only in one spelling: a path that someone
// on the way could understand as another one is refused.
func Path(method, target string) (string, error) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return "", errors.New("the method is none of the API's")
	}
	if !strings.HasPrefix(target, "/") {
		_, rest, ok := strings.Cut(target, "://")
		slash := strings.IndexByte(rest, '/')
		if !ok || slash < 0 || strings.ContainsAny(rest[:slash], `?#\`) {
			return "", errors.New("the target has no path")
		}
		target = rest[slash:]
	}
	path, _, _ := strings.Cut(target, "?")
	if len(path) > maxPath {
		return "", errors.New("the path is too long")
	}
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-_.:~") != "" {
		return "", errors.New("the path has an escape or a character that is none of the API's")
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if segment == "" || segment == "." || segment == ".." {
			return "", errors.New("the path has an empty or dot segment")
		}
	}
	if path != "/api/hello" && !strings.HasPrefix(path, "/v1/") {
		return "", errors.New("only /v1/ and /api/hello are passed on")
	}
	return path, nil
}

// dropped are the VM's headers that never go upstream: credentials, what could
// make a server on the way act for another host, path, method or client, and
// what concerns this connection alone.
var dropped = []string{
	"Authorization", "X-Api-Key", "Api-Key", "Cookie", "Cookie2", "Proxy-Authorization", "Proxy-Connection", "Expect",
	"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Server",
	"X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "X-Original-Url", "X-Rewrite-Url", "X-Original-Host", "X-Host",
	"X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
}

// clean removes from a request's header what must not go upstream. A name with
// other characters than letters, digits and hyphens goes too: some servers read
// x_api_key as X-Api-Key.
func clean(header http.Header) {
	for _, name := range dropped {
		delete(header, name)
	}
	for name := range header {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
			delete(header, name)
		}
	}
}
