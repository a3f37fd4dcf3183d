// Package hostile attacks aibox: from inside a real VM as root, in the place of
// a guest's kernel, of QEMU and of virtiofsd, and by killing what runs. The
// tests have the build tag hostile and run by `make hostile`, which prints a
// table of attack, guard and verdict. Every attack has a deadline.
//
// An attack is marked "yes" under control where it first succeeds in the same
// run with its guard off: without the sandbox, on a share that may be written,
// on a port that is listed, with frames that keep the protocol. Such an attack
// would be seen if it worked.
package hostile
