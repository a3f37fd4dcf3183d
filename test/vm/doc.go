// Package vm tests aibox in a real VM: the built program boots the built
// image under QEMU as an ordinary user. The tests have the build tag vm and
// run by `make vm-test`. Every wait has a deadline, and a test that fails
// prints the tail of the VM's console.
package vm
