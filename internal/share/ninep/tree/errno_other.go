//go:build !linux

package tree

import "aibox/internal/share/ninep/proto"

// systemErrno knows no numbers of other systems, which differ.
func systemErrno(error) (proto.Errno, bool) { return 0, false }
