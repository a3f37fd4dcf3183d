//go:build !unix

package usersetup

const nonblock = 0
