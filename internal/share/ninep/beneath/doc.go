// Package beneath serves a folder of a Linux host by handles. Every node is an
// open handle of a file (O_PATH), reached one name at a time from the handle of
// the folder above, so that a folder that is moved or replaced by a link leads
// nowhere else: handles mean files, not paths. No link is followed anywhere. A
// node is opened for work by its handle's own number, only after the kernel
// said that it is a plain file or folder.
package beneath
