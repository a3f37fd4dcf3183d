// Package gitlogin asks the host's git and ssh how to log in at the servers of
// the project's repositories, before aibox confines itself: afterwards no
// program can be started and no key be read. What it returns is values alone:
// a password, parsed keys, an open connection to the agent, known host keys.
//
// git is asked first (credential helpers), outside any repository and without
// prompts, for the very address that git on the host would use. A server it
// has no login for is reached by SSH, as ssh on the host would: its configuration
// names host, port, keys, agent and known hosts. Where neither has a login,
// the repository can be read without one, if its server lets anyone.
//
// Nothing here comes from the VM or from the project's folder.
package gitlogin
