// Command attacker is what an attacker runs: as root in the VM, or in the place
// of QEMU or virtiofsd in their sandboxes. It tries one thing after the other
// and tells what worked. It is built statically for test/hostile only and
// changes nothing but what its target names.
package main
