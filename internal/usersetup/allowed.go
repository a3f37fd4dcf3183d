package usersetup

import "encoding/json"

// form is what a setting's value must be. Others are left out, whatever a
// later Claude Code makes of them.
type form int

const (
	flag  form = iota // true or false
	text              // a short string
	texts             // an object of strings and flags
)

// Limits in bytes of each string, and of a setting's whole text.
const (
	maxText  = 500
	maxValue = 8 << 10
)

// allowed are the settings that a VM gets: of how Claude Code looks and answers.
// None of them starts a program, names a file that is read, holds a secret, or
// widens what Claude Code may do. A setting that is not here is left out.
func allowed() map[string]form {
	return map[string]form{
		// what answers, and how
		"model":                 text,
		"effortLevel":           text,
		"alwaysThinkingEnabled": flag,
		"outputStyle":           text,
		"language":              text,
		"autoCompactEnabled":    flag,

		// what is shown
		"theme":                      text,
		"verbose":                    flag,
		"viewMode":                   text,
		"showThinkingSummaries":      flag,
		"showTurnDuration":           flag,
		"spinnerTipsEnabled":         flag,
		"syntaxHighlightingDisabled": flag,
		"prefersReducedMotion":       flag,
		"terminalProgressBarEnabled": flag,
		"todoFeatureEnabled":         flag,
		"promptSuggestionEnabled":    flag,
		"preferredNotifChannel":      text,

		// how the prompt is edited
		"editorMode":       text,
		"respectGitignore": flag,

		// what stands in commits
		"includeCoAuthoredBy":    flag,
		"includeGitInstructions": flag,
		"attribution":            texts,
	}
}

func (f form) fits(value json.RawMessage) bool {
	var v any
	if len(value) > maxValue || json.Unmarshal(value, &v) != nil {
		return false
	}
	switch v := v.(type) {
	case bool:
		return f == flag
	case string:
		return f == text && len(v) <= maxText
	case map[string]any:
		for _, part := range v {
			_, isFlag := part.(bool)
			s, isText := part.(string)
			if !isFlag && !isText || len(s) > maxText {
				return false
			}
		}
		return f == texts && len(v) <= 10
	}
	return false
}
