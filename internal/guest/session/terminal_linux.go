package session

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo terminal of the given size. master is for Go's
// poller, so that closing it wakes its reader.
func openTerminal(size Window) (master, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open terminal: %w", err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	slave, err = openSlave(fd)
	if err != nil {
		master.Close()
		return nil, nil, fmt.Errorf("open terminal: %w", err)
	}
	if err := resize(master, size); err != nil {
		closeAll(master, slave)
		return nil, nil, err
	}
	return master, slave, nil
}

// openSlave unlocks and opens the other end. It then erases whole UTF-8
// characters, as the terminals of today expect.
func openSlave(master int) (*os.File, error) {
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	number, err := unix.IoctlGetUint32(master, unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	path := "/dev/pts/" + strconv.FormatUint(uint64(number), 10)
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	slave := os.NewFile(uintptr(fd), path)
	if t, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
		t.Iflag |= unix.IUTF8
		_ = unix.IoctlSetTermios(fd, unix.TCSETS, t)
	}
	return slave, nil
}

// resize sets the size and so tells the program in front.
func resize(master *os.File, w Window) error {
	conn, err := master.SyscallConn()
	if err != nil {
		return fmt.Errorf("resize terminal: %w", err)
	}
	var set error
	err = conn.Control(func(fd uintptr) {
		set = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ,
			&unix.Winsize{Row: w.Rows, Col: w.Columns, Xpixel: w.Width, Ypixel: w.Height})
	})
	if err == nil {
		err = set
	}
	if err != nil {
		return fmt.Errorf("resize terminal: %w", err)
	}
	return nil
}
