//go:build !unix

package task

const noFollow, plainFlags = 0, 0
