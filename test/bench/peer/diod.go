//go:build linux

package peer

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"aibox/internal/border/link"
	"aibox/internal/wire"
	"aibox/test/bench/work"
)

// Diod makes a serial port with aibox's link over which diod serves dir, and
// returns QEMU's arguments for it. stop ends it after the VM.
func (p Paths) Diod(dir string) (args []string, stop func(), err error) {
	if _, err := p.tool("diod"); err != nil {
		return nil, nil, err
	}
	socket := filepath.Join(filepath.Dir(dir), "link.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		l, err := link.Serve(conn, link.Options{Handlers: map[string]link.Handler{
			work.FileService: {MaxStreams: 1, Serve: func(c net.Conn) { p.serveDiod(c, dir) }},
		}})
		if err == nil {
			<-l.Done()
			l.Close()
		}
	}()
	stop = func() {
		listener.Close()
		<-ended
	}
	return []string{"-device", "virtio-serial-device", "-chardev", "socket,id=link,path=" + socket,
		"-device", "virtserialport,chardev=link,name=" + wire.PortName}, stop, nil
}

// serveDiod has diod serve one stream until it ends.
func (p Paths) serveDiod(stream net.Conn, dir string) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	theirs, ours := os.NewFile(uintptr(pair[0]), "diod"), os.NewFile(uintptr(pair[1]), "bench")
	conn, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		theirs.Close()
		return
	}
	defer conn.Close()
	cmd, err := p.diod(theirs, dir)
	if err == nil {
		err = cmd.Start()
	}
	theirs.Close()
	if err != nil {
		return
	}
	defer ender(cmd)()
	go func() { _, _ = io.Copy(stream, conn) }()
	_, _ = io.Copy(conn, stream)
}

// diod serves who asks as the user who runs the bench.
func (p Paths) diod(conn *os.File, dir string) (*exec.Cmd, error) {
	cmd, err := p.tool("diod", "--foreground", "--no-auth", "--rfdno", "3", "--wfdno", "3",
		"--export", dir, "--config-file", "/dev/null", "--logdest", "stderr")
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles, cmd.Stderr = []*os.File{conn}, os.Stderr
	return cmd, nil
}
