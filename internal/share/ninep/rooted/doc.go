// Package rooted serves a folder by os.Root, on any system. It knows files by
// their paths below the folder, which the root keeps from leading out of it
// whatever is swapped meanwhile; a node follows its file when the VM renames
// it, not when the host does. Symbolic links are shown as such and neither made
// nor followed. Two names of one file are two files to the VM.
//
// It is for Windows, whose names are compared without regard to case: asking for
// FILE gives file.
package rooted
