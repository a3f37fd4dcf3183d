//go:build hostile

package hostile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"aibox/internal/share"
	"aibox/internal/share/virtiofs"
)

// Requests of the vhost-user protocol.
const (
	vhostGetFeatures   = 1
	vhostSetFeatures   = 2
	vhostSetOwner      = 3
	vhostSetMemory     = 5
	vhostSetRingSize   = 8
	vhostSetRingAddr   = 9
	vhostSetRingBase   = 10
	vhostSetRingKick   = 12
	vhostSetRingCall   = 13
	vhostSetProtocol   = 16
	vhostSetRingEnable = 18
)

// Places in the memory that the server maps.
const (
	memorySize = 8 << 20
	memoryBase = 0x10000000 // its address for the server
	ringSize   = 64
	descAt     = 0
	availAt    = 0x1000
	usedAt     = 0x2000
	requestAt  = 0x10000
	answerAt   = 0x400000
	answerSize = 1 << 20
)

// kernel is a guest's kernel that talks to the file server as it likes: it owns
// the memory and the ring of the device.
type kernel struct {
	t            *testing.T
	server       *virtiofs.Server
	conn         *net.UnixConn
	memory       []byte
	kick, called int
	head         uint16 // requests sent
	unique       uint64

	dir, secret string // of the host; the secret lies beside the shares
}

// sharedFolders makes the folders project and m0, the latter read-only, beside a
// secret, and returns what holds them.
func sharedFolders(t *testing.T) (dir string, folders []share.Folder) {
	t.Helper()
	dir = t.TempDir()
	for path, text := range map[string]string{"secret": marker, "project/file": "in the project", "m0/tool": "original"} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"project", "m0"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		folders = append(folders, share.Folder{Name: name, Dir: f, ReadOnly: name == "m0"})
	}
	return dir, folders
}

// newKernel starts a file server with the shares project and m0.
func newKernel(t *testing.T) *kernel {
	t.Helper()
	k := &kernel{t: t}
	var folders []share.Folder
	k.dir, folders = sharedFolders(t)
	k.secret = filepath.Join(k.dir, "secret")
	var err error
	if k.server, err = virtiofs.Start(t.Context(), folders, virtiofs.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.server.Kill)
	c, err := net.FileConn(k.server.Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	k.conn = c.(*net.UnixConn)
	k.plug()
	return k
}

func (k *kernel) send(request uint32, payload []byte, files ...int) {
	k.t.Helper()
	b := binary.LittleEndian.AppendUint32(nil, request)
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	if _, _, err := k.conn.WriteMsgUnix(append(b, payload...), rights, nil); err != nil {
		k.t.Fatalf("vhost-user request %d: %v", request, err)
	}
}

func words(values ...any) (b []byte) {
	for _, v := range values {
		b, _ = binary.Append(b, binary.LittleEndian, v) // cannot fail for numbers and bytes
	}
	return b
}

// plug does what QEMU does before the guest uses the device.
func (k *kernel) plug() {
	k.t.Helper()
	memory, err := unix.MemfdCreate("memory", unix.MFD_CLOEXEC)
	if err != nil {
		k.t.Fatal(err)
	}
	defer unix.Close(memory)
	if err := unix.Ftruncate(memory, memorySize); err != nil {
		k.t.Fatal(err)
	}
	if k.memory, err = unix.Mmap(memory, 0, memorySize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = unix.Munmap(k.memory) })
	for _, fd := range []*int{&k.kick, &k.called} {
		if *fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
			k.t.Fatal(err)
		}
		k.t.Cleanup(func() { _ = unix.Close(*fd) })
	}
	k.send(vhostSetOwner, nil)
	k.send(vhostSetFeatures, words(k.features()&(1<<32|1<<30)))
	k.send(vhostSetProtocol, words(uint64(0)))
	k.send(vhostSetMemory, words(uint32(1), uint32(0), uint64(0), uint64(memorySize), uint64(memoryBase), uint64(0)), memory)
	const ring = uint32(1) // 0 is for what cannot wait
	k.send(vhostSetRingSize, words(ring, uint32(ringSize)))
	k.send(vhostSetRingBase, words(ring, uint32(0)))
	k.send(vhostSetRingAddr, words(ring, uint32(0), uint64(memoryBase+descAt), uint64(memoryBase+usedAt), uint64(memoryBase+availAt), uint64(0)))
	k.send(vhostSetRingCall, words(uint64(ring)), k.called)
	k.send(vhostSetRingKick, words(uint64(ring)), k.kick)
	k.send(vhostSetRingEnable, words(ring, uint32(1)))
	k.features() // its answer comes when all before it was done
}

func (k *kernel) features() uint64 {
	k.t.Helper()
	k.send(vhostGetFeatures, nil)
	_ = k.conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	answer := make([]byte, 20)
	if _, err := io.ReadFull(k.conn, answer); err != nil {
		k.t.Fatalf("the file server's features: %v", err)
	}
	return binary.LittleEndian.Uint64(answer[12:])
}

// descriptor is one entry of the ring's table.
type descriptor struct {
	addr  uint64
	size  uint32
	flags uint16 // 1: another follows; 2: for the device to write
	next  uint16
}

// chain offers descriptors to the server and waits for their use. It is false
// when the server ended or took them for no request.
func (k *kernel) chain(descriptors ...descriptor) bool {
	k.t.Helper()
	for i, d := range descriptors {
		copy(k.memory[descAt+16*i:], words(d.addr, d.size, d.flags, d.next))
	}
	copy(k.memory[availAt+4+2*(int(k.head)%ringSize):], words(uint16(0)))
	k.head++
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&k.memory[availAt])), uint32(k.head)<<16)
	if _, err := unix.Write(k.kick, words(uint64(1))); err != nil {
		k.t.Fatal(err)
	}
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); {
		if uint16(atomic.LoadUint32((*uint32)(unsafe.Pointer(&k.memory[usedAt])))>>16) == k.head {
			return true
		}
		select {
		case <-k.server.Done():
			return false
		default:
		}
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(k.called), Events: unix.POLLIN}}, 100); err != nil && err != unix.EINTR {
			k.t.Fatal(err)
		}
		_, _ = unix.Read(k.called, make([]byte, 8))
	}
	return false
}

var errNoAnswer = errors.New("no answer")

// call sends one FUSE request. The error is the server's errno, or errNoAnswer.
func (k *kernel) call(opcode uint32, node uint64, body []byte) ([]byte, error) {
	k.t.Helper()
	return k.callAs(opcode, node, uint32(40+len(body)), body)
}

// callAs is call with a length in the header that may be a lie.
func (k *kernel) callAs(opcode uint32, node uint64, length uint32, body []byte) ([]byte, error) {
	k.t.Helper()
	k.unique++
	request := append(words(length, opcode, k.unique, node, uint32(0), uint32(0), uint32(1), uint32(0)), body...)
	copy(k.memory[requestAt:], request)
	clear(k.memory[answerAt : answerAt+16])
	if !k.chain(descriptor{requestAt, uint32(len(request)), 1, 1}, descriptor{answerAt, answerSize, 2, 0}) {
		return nil, errNoAnswer
	}
	head := k.memory[answerAt : answerAt+16]
	n := binary.LittleEndian.Uint32(head)
	if errno := -int32(binary.LittleEndian.Uint32(head[4:])); errno != 0 {
		return nil, unix.Errno(errno)
	}
	if n < 16 || n > answerSize {
		return nil, fmt.Errorf("%w: a length of %d", errNoAnswer, n)
	}
	return append([]byte(nil), k.memory[answerAt+16:answerAt+int(n)]...), nil
}

// untouched fails the test if the host shows a trace beyond what a user of the
// project may leave.
func (k *kernel) untouched() {
	k.t.Helper()
	for path, want := range map[string]string{"secret": marker, "m0/tool": "original"} {
		if b, err := os.ReadFile(filepath.Join(k.dir, path)); err != nil || string(b) != want {
			k.t.Errorf("%s holds %q, %v", path, b, err)
		}
	}
	for dir, want := range map[string]int{".": 3, "m0": 1} {
		if entries, err := os.ReadDir(filepath.Join(k.dir, dir)); err != nil || len(entries) != want {
			k.t.Errorf("%s holds %v, %v", dir, entries, err)
		}
	}
	err := filepath.WalkDir(k.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type()&(os.ModeDevice|os.ModeCharDevice) != 0 {
			k.t.Errorf("%s is a device", path)
		}
		if fi, err := os.Lstat(path); err == nil && fi.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			k.t.Errorf("%s has mode %v", path, fi.Mode())
		}
		return nil
	})
	if err != nil {
		k.t.Error(err)
	}
	if b := k.memory[answerAt : answerAt+answerSize]; strings.Contains(string(b), marker) {
		k.t.Error("the VM's memory holds the secret")
	}
}
