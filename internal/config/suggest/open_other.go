//go:build !unix

package suggest

const openPlain = 0
