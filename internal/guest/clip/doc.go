// Package clip is xclip and wl-paste in the VM: init under another name, for
// programs that know no other way to the clipboard. It asks the host, which
// answers with an image after the user pressed the paste key, and else with nothing.
package clip
