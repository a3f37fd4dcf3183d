package hosts

import (
	"net/netip"
	"testing"
)

func TestPrivate(t *testing.T) {
	for _, c := range []struct{ addr, class string }{
		{"0.0.0.0", "unspecified"}, {"0.255.255.255", "unspecified"}, {"1.0.0.0", ""},
		{"9.255.255.255", ""}, {"10.0.0.0", "private"}, {"10.255.255.255", "private"}, {"11.0.0.0", ""},
		{"100.63.255.255", ""}, {"100.64.0.0", "carrier-grade NAT"}, {"100.127.255.255", "carrier-grade NAT"}, {"100.128.0.0", ""},
		{"126.255.255.255", ""}, {"127.0.0.1", "loopback"}, {"127.255.255.255", "loopback"}, {"128.0.0.0", ""},
		{"169.253.255.255", ""}, {"169.254.169.254", "link-local"}, {"169.255.0.0", ""},
		{"172.15.255.255", ""}, {"172.16.0.0", "private"}, {"172.31.255.255", "private"}, {"172.32.0.0", ""},
		{"192.0.0.8", "reserved"}, {"192.0.1.0", ""}, {"192.0.2.1", "documentation"}, {"192.88.99.1", "6to4 relay"},
		{"192.167.255.255", ""}, {"192.168.0.1", "private"}, {"192.169.0.0", ""},
		{"198.17.255.255", ""}, {"198.18.0.0", "benchmark"}, {"198.19.255.255", "benchmark"}, {"198.20.0.0", ""},
		{"198.51.100.7", "documentation"}, {"203.0.113.7", "documentation"},
		{"223.255.255.255", ""}, {"224.0.0.1", "multicast"}, {"239.255.255.255", "multicast"},
		{"240.0.0.1", "reserved"}, {"255.255.255.254", "reserved"}, {"255.255.255.255", "broadcast"},
		{"8.8.8.8", ""},

		{"::", "unspecified"}, {"::1", "loopback"}, {"::2", "IPv4-compatible"}, {"::127.0.0.1", "IPv4-compatible"}, {"::1:0:0", "reserved"},
		{"::ffff:127.0.0.1", "loopback"}, {"::ffff:10.0.0.1", "private"}, {"::ffff:169.254.169.254", "link-local"}, {"::ffff:0.0.0.0", "unspecified"},
		{"::ffff:8.8.8.8", ""}, {"::ffff:0:10.0.0.1", "reserved"},
		{"64:ff9b::127.0.0.1", "NAT64 of loopback"}, {"64:ff9b::10.0.0.1", "NAT64 of private"}, {"64:ff9b::100.64.0.1", "NAT64 of carrier-grade NAT"},
		{"64:ff9b::0.0.0.0", "NAT64 of unspecified"}, {"64:ff9b::224.0.0.1", "NAT64 of multicast"}, {"64:ff9b::8.8.8.8", ""},
		{"64:ff9b::1:0:0", "reserved"}, {"64:ff9b:1::8.8.8.8", "local NAT64"}, {"64:ff9b:2::1", "reserved"},
		{"100::1", "discard"}, {"1fff::1", "reserved"}, {"2000::1", ""},
		{"2001::1", "Teredo"}, {"2001:2::1", "benchmark"}, {"2001:10::1", "reserved"}, {"2001:1ff:ffff::1", "reserved"}, {"2001:200::1", ""},
		{"2001:db8::1", "documentation"}, {"2001:4860:4860::8888", ""}, {"2002:7f00:1::1", "6to4"}, {"2002:808:808::1", "6to4"}, {"2003::1", ""},
		{"2606:4700::1", ""}, {"3fff::1", "documentation"}, {"3fff:1000::1", ""}, {"4000::1", "reserved"}, {"5f00::1", "reserved"},
		{"fbff::1", "reserved"}, {"fc00::1", "unique local"}, {"fdff:ffff::1", "unique local"}, {"fe00::1", "reserved"},
		{"fe80::1", "link-local"}, {"fe80::1%eth0", "link-local"}, {"2606:4700::1%eth0", "link-local"}, {"febf::1", "link-local"},
		{"fec0::1", "site-local"}, {"ff02::1", "multicast"},
	} {
		class, private := Private(netip.MustParseAddr(c.addr))
		if class != c.class || private != (c.class != "") {
			t.Errorf("Private(%s) = %q, %v, want %q", c.addr, class, private, c.class)
		}
	}
	if _, private := Private(netip.Addr{}); !private {
		t.Error("an invalid address is public")
	}
}

// FuzzPrivate holds Private against what the standard library knows.
func FuzzPrivate(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		class, private := Private(a)
		if private != (class != "") {
			t.Errorf("Private(%v) = %q, %v", a, class, private)
		}
		if u := a.Unmap(); !private && (!u.IsGlobalUnicast() || u.IsPrivate() || u.IsLoopback()) {
			t.Errorf("%v is public", a)
		}
	})
}
