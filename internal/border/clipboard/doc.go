// Package clipboard hands the VM one image of the user's clipboard, within 5
// seconds after the user pressed the paste key, and nothing else.
//
// Who sends these bytes: any program in the VM, one stream for each question.
// docs/protocol.md has their form. The user's keys come from the host's side.
//
// What limits apply: limits.go. A question is one short line. The clipboard's
// types are read once after a key, an image only of a type that was named, and
// what is no image by its first bytes is not passed on: a program that owns the
// clipboard may hand out text under any name.
//
// What an attacker gains: an image that the user has on the clipboard when they
// press the paste key in any program of the VM, whatever they wanted with it.
//
// What is logged: questions without a key, once, by Config.HeldBack.
package clipboard
