package fault

import "strings"

const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@,="

// ShellQuote returns s so that a POSIX shell reads it as one word, for hints
// that are pasted.
func ShellQuote(s string) string {
	if s != "" && strings.Trim(s, plainBytes) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
