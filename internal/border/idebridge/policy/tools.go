package policy

import (
	"encoding/json"

	"aibox/internal/plain"
)

// toolCall is the parameters of tools/call.
type toolCall struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

func (p Policy) callTool(params json.RawMessage) (Call, error) {
	var in struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(params, &in) != nil {
		return Call{}, held("a broken tools/call")
	}
	kind, ok := tools()[in.Name]
	if !ok {
		return Call{}, held("the tool %q", in.Name)
	}
	if in.Arguments == nil {
		in.Arguments = json.RawMessage("{}")
	}
	call := Call{Kind: kind, Method: "tools/call"}
	var arguments any
	var err error
	switch kind {
	case OpenDiff:
		arguments, call.Tab, err = p.openDiff(in.Arguments)
	case CloseTab:
		arguments, call.Tab, err = closeTab(in.Arguments)
	case Diagnostics:
		arguments, err = p.diagnostics(in.Arguments)
	default:
		arguments = struct{}{}
	}
	if err != nil {
		return Call{}, err
	}
	call.Params = toolCall{in.Name, arguments}
	return call, nil
}

type openDiff struct {
	Old      string `json:"old_file_path"`
	New      string `json:"new_file_path"`
	Contents string `json:"new_file_contents"`
	Tab      string `json:"tab_name"`
}

func (p Policy) openDiff(arguments json.RawMessage) (any, string, error) {
	var in openDiff
	if json.Unmarshal(arguments, &in) != nil {
		return nil, "", held("a broken openDiff")
	}
	for _, path := range []*string{&in.Old, &in.New} {
		host, err := p.Project.ToHost(*path)
		if err != nil || host == p.Project.Roots[0] {
			return nil, "", held("openDiff of %q, which is not surely in the project", *path)
		}
		*path = host
	}
	if !goodTab(in.Tab) {
		return nil, "", held("openDiff with the title %q", in.Tab)
	}
	return in, in.Tab, nil
}

// goodTab tells whether a title can be shown to the user.
func goodTab(title string) bool {
	return title != "" && len(title) <= maxTab && plain.LineMax(title, maxTab) == title
}

type tab struct {
	Tab string `json:"tab_name"`
}

func closeTab(arguments json.RawMessage) (any, string, error) {
	var in tab
	if json.Unmarshal(arguments, &in) != nil || !goodTab(in.Tab) {
		return nil, "", held("a broken close_tab")
	}
	return in, in.Tab, nil
}

func (p Policy) diagnostics(arguments json.RawMessage) (any, error) {
	var in struct {
		URI string `json:"uri,omitempty"`
	}
	if json.Unmarshal(arguments, &in) != nil {
		return nil, held("a broken getDiagnostics")
	}
	if in.URI == "" {
		return in, nil
	}
	uri, err := p.Project.URIToHost(in.URI)
	if err != nil {
		return nil, held("getDiagnostics of %q, which is not surely in the project", in.URI)
	}
	in.URI = uri
	return in, nil
}
