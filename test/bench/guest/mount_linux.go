package main

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"aibox/internal/guest/link"
	"aibox/internal/guest/ninep"
	"aibox/internal/wire"
)

// mount mounts a share: "virtiofs:TAG", "9p:TAG" of a virtio device, "ext4:DEVICE",
// or "port:USER:FOLDER", which is 9p over a serial port for a user and folder of
// the host. Those by 9p have the options of aibox's own mount.
func mount(dir, kind, argument string) error {
	switch kind {
	case "virtiofs":
		return unix.Mount(argument, dir, "virtiofs", unix.MS_NOSUID|unix.MS_NODEV, "")
	case "9p":
		return unix.Mount(argument, dir, "9p", unix.MS_NOSUID|unix.MS_NODEV, "trans=virtio,"+ninep.Options())
	case "ext4":
		return unix.Mount(argument, dir, "ext4", unix.MS_NOSUID|unix.MS_NODEV, "")
	case "port":
		return mountPort(dir, argument)
	}
	return fmt.Errorf("unknown kind %q", kind)
}

// mountPort mounts 9p over a serial port, as aibox's init does.
func mountPort(dir, argument string) error {
	user, folder, _ := strings.Cut(argument, ":")
	path, err := link.FindPort(wire.SharePortName, 10*time.Second)
	if err != nil {
		return err
	}
	port, err := ninep.Open(path)
	if err != nil {
		return err
	}
	defer unix.Close(port)
	return unix.Mount("bench", dir, "9p", unix.MS_NOSUID|unix.MS_NODEV,
		fmt.Sprintf("trans=fd,rfdno=%d,wfdno=%d,aname=%s,uname=%s,%s", port, port, folder, user, ninep.Options()))
}
