// Package claude reads what `claude --print --output-format stream-json` prints:
// one JSON event a line. Init reads it in a task's VM to tell the user how far it
// is, and the demo reads it on the host, where each byte comes from the VM. So
// the package gives out strings as they came: who shows them cleans them.
package claude
