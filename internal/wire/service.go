package wire

import (
	"errors"
	"fmt"
	"io"
)

// MaxServiceName is the longest service name in bytes.
const MaxServiceName = 32

// WriteService opens a stream's conversation: one length byte and the name.
func WriteService(w io.Writer, name string) error {
	if !validService(name) {
		return fmt.Errorf("service name %q is not valid", name)
	}
	_, err := w.Write(append([]byte{byte(len(name))}, name...))
	return err
}

// ReadService reads the name written by WriteService and not one byte more.
// A name is 1 to MaxServiceName bytes of a-z and 0-9.
func ReadService(r io.Reader) (string, error) {
	var n [1]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return "", fmt.Errorf("read service name: %w", err)
	}
	if n[0] == 0 || n[0] > MaxServiceName {
		return "", fmt.Errorf("read service name: length %d is not 1 to %d", n[0], MaxServiceName)
	}
	name := make([]byte, n[0])
	if _, err := io.ReadFull(r, name); err != nil {
		return "", fmt.Errorf("read service name: %w", err)
	}
	if !validService(string(name)) {
		return "", errors.New("read service name: not a-z and 0-9")
	}
	return string(name), nil
}

func validService(name string) bool {
	if name == "" || len(name) > MaxServiceName {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
