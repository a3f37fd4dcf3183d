// Command fscase asks a folder whether it behaves as a folder of a local disk
// does. It is built statically for test/vm, which runs it in the VM: on the
// state disk, whose answers are the reference, and on a share.
//
//	fscase cases DIR READONLY OTHER   short cases: script/cases.txt
//	fscase probes DIR                 long cases: locks, mappings, races, sparse files, ...
//	fscase verify DIR                 written blocks are read back, as fio's verification does
//	fscase tree DIR FILES             an npm-like tree is made, listed, read and removed
//	fscase drain DIR FILES            lists so many files while it removes every tenth
//	fscase pread FD                   prints a file that the shell has open
//
// READONLY is a folder that must not be written, with "file" and "dir" in it, and
// OTHER one on another file system. cases and probes print a line of JSON for
// each case (Result). What they leave in DIR is for the host to look at.
package main
