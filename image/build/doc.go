// Package build makes the guest's image: the kernel vmlinuz, the root disk
// os.ext4 and a manifest of what is in them.
//
// The work is a table of steps (plan.go). Each step has a key, the hash of all
// that decides its result, and its result is a folder of the cache under that
// key; a step whose folder exists is done. A result appears under its name only
// when it is complete, so an interrupt or a full disk leaves nothing that a
// later build could take for whole. The sources of truth are the files beside
// this package: pins.json, kernel/, rootfs/ and prompts/.
//
// No step needs root: packages are unpacked in a user namespace, and owners of
// files exist only in tar streams and under fakeroot.
package build
