//go:build !unix

package prompt

const noFollow, plainFlags = 0, 0
