// Package ownnet gives a test a network of its own: an ordinary user's process
// in new namespaces of Linux, with nothing but loopback, where it may listen on
// any port, where names lead to 127.0.0.1, and where the user database says what
// the test needs. The uid stays the user's, and no capability remains.
//
//	main (or TestMain)  if err := ownnet.Enter(); err != nil { … }
//	the test            cmd := ownnet.Command(ctx, place, args...); cmd.Run()
package ownnet

import "os"

// placeVariable tells a copy of the program what to make. doneVariable tells it
// that this is made.
const (
	placeVariable = "OWNNET_PLACE"
	doneVariable  = "OWNNET_DONE"
)

// Place is what the network has.
type Place struct {
	Names []string // lead to 127.0.0.1
	Home  string   // the user's home folder in the user database
	Alias string   // a second name for the user there, "" for none
}

// Inside tells whether this process is in a network of its own.
func Inside() bool { return os.Getenv(doneVariable) != "" }
