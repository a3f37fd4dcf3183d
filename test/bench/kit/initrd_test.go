package kit

import (
	"strings"
	"testing"
)

// TestModuleOrder wants what a module needs before it, the last needed first.
func TestModuleOrder(t *testing.T) {
	const text = "kernel/fs/9p/9p.ko: kernel/net/9p/9pnet.ko kernel/fs/netfs/netfs.ko\nkernel/net/9p/9pnet.ko:\n"
	if got := strings.Join(moduleOrder(text, "9p"), " "); got != "kernel/fs/netfs/netfs.ko kernel/net/9p/9pnet.ko kernel/fs/9p/9p.ko" {
		t.Errorf("9p: %s", got)
	}
	if got := moduleOrder(text, "ext4"); got != nil { // built in, or absent
		t.Errorf("ext4: %v", got)
	}
}

// TestArchiveIsAligned wants every header where the kernel looks for it.
func TestArchiveIsAligned(t *testing.T) {
	var a archive
	a.folder("dev")
	a.file("init", []byte("12345"))
	text := string(a.bytes())
	if n := strings.Count(text, "070701"); n != 3 {
		t.Fatalf("%d headers, want 3", n)
	}
	for at := 0; ; at++ {
		next := strings.Index(text[at:], "070701")
		if next < 0 {
			break
		}
		if at += next; at%4 != 0 {
			t.Errorf("a header is at %d", at)
		}
	}
}
