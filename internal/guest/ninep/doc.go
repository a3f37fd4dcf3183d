// Package ninep mounts the shares by 9p, over a serial port of the VM.
package ninep
