// Package disk decides what to do with the state disk, formats it when it was
// never used, repairs it when it is damaged, and mounts it.
//
// The disk is a sparse file of many GiB on the host, whose holes read as zeros.
// Reading it to the end would cost seconds at every first boot, so emptiness
// is found by samples: all places where a file system, a partition table, an
// array or an encrypted volume keeps its head or its copies, and pieces spread
// evenly over the rest. Data that misses all of them has no structure left by
// which anybody could find it again.
//
// Formatting takes part of a second in which the VM may be ended. A mark in
// the disk's last bytes, outside the file system, is written before and
// removed after, so that an interrupted first boot is told from foreign data.
package disk
