package policy

import (
	"encoding/json"

	"aibox/internal/border/idebridge/paths"
)

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type selected struct {
	Start   position `json:"start"`
	End     position `json:"end"`
	IsEmpty bool     `json:"isEmpty"`
}

type selection struct {
	Text      string    `json:"text"`
	FilePath  string    `json:"filePath"`
	FileURL   string    `json:"fileUrl"`
	Selection *selected `json:"selection"`
}

type mention struct {
	FilePath  string `json:"filePath"`
	LineStart *int   `json:"lineStart,omitempty"`
	LineEnd   *int   `json:"lineEnd,omitempty"`
}

// NoteToVM judges a notification of the IDE. What is about a file that is not in
// the project stays on the host, the selected text above all.
func (p Policy) NoteToVM(method string, params json.RawMessage) (any, error) {
	switch method {
	case "selection_changed":
		var in selection
		if json.Unmarshal(params, &in) != nil {
			return nil, held("a broken selection of the IDE")
		}
		guest, err := p.Project.ToGuest(in.FilePath)
		if err != nil {
			return nil, held("a selection outside the project")
		}
		in.FilePath, in.FileURL = guest, paths.FileURI(guest)
		return in, nil
	case "at_mentioned":
		var in mention
		if json.Unmarshal(params, &in) != nil {
			return nil, held("a broken mention of the IDE")
		}
		guest, err := p.Project.ToGuest(in.FilePath)
		if err != nil {
			return nil, held("a mention of a file outside the project")
		}
		in.FilePath = guest
		return in, nil
	}
	return nil, held("the IDE's notification %q", method)
}
