// Package archtest holds the repository to its own rules: which package may
// import which, how long files and functions grow, what every package has to
// document, what no code may call, what no file may name, and which licences
// the modules have. It has tests only; each failure says where and what to do.
//
// An exception is an entry in the rule's own table, with its reason. One that is
// no longer needed fails too.
package archtest
