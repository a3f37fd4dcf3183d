// Package link is the guest's end of the one connection with the host: it finds
// the virtio serial port, says hello, and multiplexes named streams over it.
package link
