// Package proto is the messages of 9P2000.L, the file protocol of Linux's v9fs,
// as bytes and as values. Each message has one list of its fields, by which it
// is both read and written, so that a test that writes it back tests the list.
//
// What is read comes from the VM. A message is read into fields of fixed size
// and into strings and bytes that lie within it; nothing is allocated for a
// length that the message only claims.
package proto
