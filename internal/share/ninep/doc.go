// Package ninep is a file server for a VM's folders that speaks 9P2000.L, the
// protocol of Linux's v9fs. It serves where there is no virtiofsd.
//
// Who sends these bytes: the VM's kernel, or whatever took its place. Limits:
// limits.go; they bound the server's memory too, since an open file or folder holds
// no data. What an attacker gains who finds a mistake: a process that reaches the
// shared folders and nothing else (see package helper). What is logged: nothing; a
// message that is no message of the protocol ends the connection, and with it the VM.
//
// The tree that the VM sees is a root with the shares by their names, which the
// server makes up and nobody can change, and below each the share's folder.
package ninep
