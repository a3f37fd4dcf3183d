package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"aibox/internal/guest/link"
	"aibox/internal/wire"
	"aibox/test/bench/work"
)

// options9p are the same for every 9p peer as for aibox's own mount.
const options9p = "version=9p2000.L,access=any,cache=none,msize=1048576"

// mount mounts a share: "virtiofs:TAG", "9p:TAG" of a virtio device, "ext4:DEVICE",
// or "link:USER:FOLDER", which is
// 9p over a stream of aibox's link for a user and folder of the host.
func mount(dir, kind, argument string) error {
	switch kind {
	case "virtiofs":
		return unix.Mount(argument, dir, "virtiofs", unix.MS_NOSUID|unix.MS_NODEV, "")
	case "9p":
		return unix.Mount(argument, dir, "9p", unix.MS_NOSUID|unix.MS_NODEV, "trans=virtio,"+options9p)
	case "ext4":
		return unix.Mount(argument, dir, "ext4", unix.MS_NOSUID|unix.MS_NODEV, "")
	case "link":
		return mountOverLink(dir, argument)
	}
	return fmt.Errorf("unknown kind %q", kind)
}

// mountOverLink gives the kernel one end of a socket pair and carries the other
// end's bytes over a stream, as aibox's init does.
func mountOverLink(dir, argument string) error {
	user, folder, _ := strings.Cut(argument, ":")
	port, err := link.OpenPort(wire.PortName, 10*time.Second)
	if err != nil {
		return err
	}
	l, err := link.Dial(port)
	if err != nil {
		return err
	}
	stream, err := l.Open(work.FileService)
	if err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ours := os.NewFile(uintptr(pair[1]), "9p")
	conn, err := net.FileConn(ours)
	if err != nil {
		return err
	}
	ours.Close()
	go func() { _, _ = io.Copy(stream, conn) }()
	go func() { _, _ = io.Copy(conn, stream) }()
	return unix.Mount("bench", dir, "9p", unix.MS_NOSUID|unix.MS_NODEV,
		fmt.Sprintf("trans=fd,rfdno=%d,wfdno=%d,aname=%s,uname=%s,%s", pair[0], pair[0], folder, user, options9p))
}
