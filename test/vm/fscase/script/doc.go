// Package script asks a folder by short scripts whether it behaves as a folder of
// a local disk does: cases.txt has one in each line, a system call or a few. It
// works on Linux only.
package script
