// Package cgroup keeps the VM's control groups (version 2):
//
//	/            init and the kernel
//	/user        root's; limits of all that is not init
//	/user/sN     one session; given to the user, who may divide it further
//	/user/sN/main  where the session's first process starts
//
// The session's folder itself holds no process, since a group with processes
// cannot pass controllers on. Its parent stays root's, so a process cannot
// leave its session and is ended with it.
package cgroup
