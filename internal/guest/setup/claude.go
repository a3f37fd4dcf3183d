// Package setup writes what programs of the VM's user must find in the home
// before they start. It runs in the VM, before any session.
package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"aibox/internal/wire"
)

// claudeState is the file in which Claude Code keeps what it asked its user.
const claudeState = ".claude.json"

// keyTail is how many characters of a key Claude Code remembers as approved.
const keyTail = 20

// Claude answers in the home what Claude Code would ask on its first start and
// aibox knows: the project folder is the one the user started aibox in, and
// where the API key stays on the host, its placeholder is meant to be used.
// All other answers in the file stay; a file that is no JSON object is left
// alone. The file belongs to uid and gid.
func Claude(home string, uid, gid int, api bool) error {
	root, err := os.OpenRoot(home)
	if err != nil {
		return fmt.Errorf("open the home: %w", err)
	}
	defer root.Close()
	old, err := readState(root)
	if err != nil {
		return err
	}
	state, err := mergeClaude(old, api)
	if err != nil {
		return nil // Claude Code reports its own damaged file
	}
	return replace(root, claudeState, state, uid, gid)
}

func readState(root *os.Root) ([]byte, error) {
	text, err := read(root, claudeState)
	if errors.Is(err, fs.ErrNotExist) {
		return []byte("{}"), nil
	}
	return text, err
}

// mergeClaude returns the file's contents with aibox's answers in it.
func mergeClaude(old []byte, api bool) ([]byte, error) {
	var state map[string]any
	if err := json.Unmarshal(old, &state); err != nil {
		return nil, err
	}
	if state == nil {
		return nil, errors.New("no object")
	}
	object(object(state, "projects"), wire.GuestProject)["hasTrustDialogAccepted"] = true
	if api {
		state["hasCompletedOnboarding"] = true
		answers := object(state, "customApiKeyResponses")
		tail := wire.APIKeyPlaceholder[max(0, len(wire.APIKeyPlaceholder)-keyTail):]
		approved, _ := answers["approved"].([]any)
		if !holds(approved, tail) {
			answers["approved"] = append(approved, tail)
		}
	}
	return json.MarshalIndent(state, "", "  ")
}

// object returns the object named key in parent, made if it is not one.
func object(parent map[string]any, key string) map[string]any {
	child, ok := parent[key].(map[string]any)
	if !ok {
		child = map[string]any{}
		parent[key] = child
	}
	return child
}

func holds(list []any, text string) bool {
	for _, v := range list {
		if v == text {
			return true
		}
	}
	return false
}
