package qemu

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"aibox/internal/vm/vmtest"
)

// The test binary plays QEMU when it is started with QEMU's arguments.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "-M" {
		os.Exit(playQEMU(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// playQEMU finds its sockets as QEMU does and does what the kernel's last argument asks.
func playQEMU(args []string) int {
	link, console := chardev(args, "link"), chardev(args, "console")
	line := strings.Fields(args[slices.Index(args, "-append")+1])
	switch line[len(line)-1] {
	case "test=echo":
		conn, err := net.FileConn(link)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		link.Close()
		_ = vmtest.Echo(conn)
	case "test=panic":
		fmt.Fprint(console, "[    0.1] Run /sbin/aibox-init\r\n[    0.2] Kernel panic - not syncing: No working init\x1b[2J found.\r\n[    0.3] Rebooting\r\n")
	case "test=fail":
		fmt.Fprint(console, "boot\r\naibox-init: mounts: nothing to mount\r\n")
	case "test=flood":
		for i := 0; i < 3*maxConsole/64; i++ {
			fmt.Fprintf(console, "%062d\r\n", i)
		}
		fmt.Fprint(console, "aibox-init: last: words")
	case "test=memory":
		fmt.Fprintln(os.Stderr, "qemu: cannot set up guest memory 'memory': Cannot allocate memory")
		return 1
	}
	return 0
}

func chardev(args []string, id string) *os.File {
	for _, a := range args {
		if n, ok := strings.CutPrefix(a, "socket,id="+id+",fd="); ok {
			fd, _ := strconv.Atoi(n)
			return os.NewFile(uintptr(fd), id)
		}
	}
	return nil
}
