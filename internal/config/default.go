package config

import _ "embed" // the text of a new config

// DefaultText returns what the first run writes: the hosts that Claude Code
// needs, and every other key as a comment.
func DefaultText() []byte { return []byte(defaultText) }

//go:embed default.yaml
var defaultText string
