//go:build linux

package peer

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Squid starts squid without a cache and logs, in dir.
func (p Paths) Squid(dir string) (addr string, stop func(), err error) {
	share := filepath.Join(p.Bench, "tools/usr/share/squid")
	// Its shared memory has the name and would stay.
	service := fmt.Sprint("bench", os.Getpid())
	addr, end, err := p.proxy(dir, "squid", func(port int) string {
		return fmt.Sprintf("http_port 127.0.0.1:%d\nhttp_access allow localhost\nhttp_access deny all\ncache deny all\ncache_mem 8 MB\n"+
			"access_log none\ncache_log %s/cache.log\ncache_store_log none\npid_filename none\ncoredump_dir %s\npinger_enable off\nnetdb_filename none\n"+
			"shutdown_lifetime 0 seconds\nmime_table %s\nicon_directory %s/icons\nerror_directory %s\nerr_page_stylesheet /dev/null\nunlinkd_program %s\n",
			port, dir, dir, filepath.Join(share, "mime.conf"), share, filepath.Join(share, "errors/templates"),
			filepath.Join(p.Bench, "tools/usr/lib/squid/unlinkd"))
	}, func(config string) []string { return []string{"-N", "-n", service, "-f", config} })
	return addr, func() {
		end()
		left, _ := filepath.Glob("/dev/shm/" + service + "-*")
		for _, name := range left {
			_ = os.Remove(name)
		}
	}, err
}

// Tinyproxy starts tinyproxy without a log.
func (p Paths) Tinyproxy(dir string) (addr string, stop func(), err error) {
	return p.proxy(dir, "tinyproxy", func(port int) string {
		return fmt.Sprintf("Port %d\nListen 127.0.0.1\nTimeout 60\nMaxClients 200\nAllow 127.0.0.1\nLogLevel Error\nLogFile \"%s/log\"\nDisableViaHeader Yes\n", port, dir)
	}, func(config string) []string { return []string{"-d", "-c", config} })
}

// proxy starts a program with a configuration and waits until it listens.
func (p Paths) proxy(dir, name string, config func(port int) string, args func(config string) []string) (addr string, stop func(), err error) {
	port, err := freePort()
	if err != nil {
		return "", nil, err
	}
	file := filepath.Join(dir, name+".conf")
	if err := os.WriteFile(file, []byte(config(port)), 0o600); err != nil {
		return "", nil, err
	}
	cmd, err := p.tool(name, args(file)...)
	if err != nil {
		return "", nil, err
	}
	return Listening(cmd, fmt.Sprint("127.0.0.1:", port))
}

// Listening starts a program and waits until it takes connections at addr.
func Listening(cmd *exec.Cmd, addr string) (string, func(), error) {
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop := func() {
		_ = cmd.Process.Kill()
		<-ended
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return addr, stop, nil
		}
		select {
		case err := <-ended:
			return "", nil, fmt.Errorf("%s ended: %w", filepath.Base(cmd.Path), err)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			stop()
			return "", nil, errors.New(filepath.Base(cmd.Path) + " does not listen")
		}
	}
}

// freePort is one that nobody has now; the programs cannot be given a listener.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
