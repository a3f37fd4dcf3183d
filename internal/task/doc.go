// Package task is unattended work: it packs the start commit through a confined
// helper, has a VM run Claude Code on it, and reports what came back. The VM's
// lifecycle is package run's, which the caller passes in.
//
// Two things speak on stderr, and each line says which: aibox[ID] is aibox's own
// word, vm[ID] is what the VM says, made printable. Nothing that the VM sends
// can begin a line.
package task
