//go:build linux

package peer

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"aibox/internal/vm/qemu"
	"aibox/internal/wire"
)

// Diod makes a serial port over which diod serves dir, and returns QEMU's
// arguments for it. stop ends it after the VM.
func (p Paths) Diod(dir string) (args []string, stop func(), err error) {
	if _, err := p.tool("diod"); err != nil {
		return nil, nil, err
	}
	socket := filepath.Join(filepath.Dir(dir), "port.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, nil, err
	}
	ended := make(chan struct{})
	end := make(chan struct{})
	go func() {
		defer close(ended)
		if conn, err := listener.Accept(); err == nil {
			p.serveDiod(conn.(*net.UnixConn), dir, end)
		}
	}()
	stop = func() {
		listener.Close()
		close(end)
		<-ended
	}
	return []string{"-device", fmt.Sprint("virtio-serial-device,max_ports=", qemu.SerialPorts), "-chardev", "socket,id=port,path=" + socket,
		"-device", "virtserialport,chardev=port,name=" + wire.SharePortName}, stop, nil
}

// serveDiod hands the connection to diod and ends it when end is closed.
func (p Paths) serveDiod(conn *net.UnixConn, dir string, end <-chan struct{}) {
	theirs, err := conn.File()
	conn.Close()
	if err != nil {
		return
	}
	cmd, err := p.diod(theirs, dir)
	if err == nil {
		err = cmd.Start()
	}
	theirs.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: diod:", err)
		return
	}
	<-end
	ender(cmd)()
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
