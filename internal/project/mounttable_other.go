//go:build !linux

package project

func readMounts() mountTable { return nil }
