//go:build !linux

package cache

import "errors"

// Clone copies from to the new file to.
func Clone(from, to string) error { return Copy(from, to, 0o644) }

// Exchange is not possible here.
func Exchange(string, string) error { return errors.ErrUnsupported }
