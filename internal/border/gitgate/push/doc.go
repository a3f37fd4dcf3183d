// Package push reads the commands of a git push that the VM sends, decides
// about each, and answers a refused push in git's own format. It never touches
// the pack that follows the commands.
//
// The VM's git, or anything in its place, sends these bytes. What passes is
// written anew from what was understood (Request.Encode), so that the server
// reads exactly the commands that were decided about. Limits: limits.go.
package push
