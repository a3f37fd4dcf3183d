package policy

import (
	"encoding/json"
	"regexp"
	"slices"

	"aibox/internal/plain"
)

// text is the one kind of content that passes.
type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type content struct {
	Content []text `json:"content"`
	IsError bool   `json:"isError,omitempty"`
}

func texts(list ...string) content {
	c := content{Content: []text{}}
	for _, s := range list {
		c.Content = append(c.Content, text{"text", s})
	}
	return c
}

// Answer judges the IDE's result of a request of the kind.
func (p Policy) Answer(kind Kind, result json.RawMessage) (any, error) {
	switch kind {
	case Initialize:
		return serverOf(result)
	case Ping:
		return struct{}{}, nil
	case ListTools:
		return toolsOf(result)
	}
	var in content
	if json.Unmarshal(result, &in) != nil {
		return nil, held("an answer of the IDE that is not understood")
	}
	if in.IsError {
		// its words may hold anything of the host
		c := texts("the IDE could not do it")
		c.IsError = true
		return c, nil
	}
	first := ""
	if len(in.Content) > 0 {
		first = in.Content[0].Text
	}
	switch kind {
	case OpenDiff:
		return diffResult(in.Content)
	case CloseTab:
		return texts("TAB_CLOSED"), nil
	case CloseDiffs:
		if !closedTabs.MatchString(first) {
			first = "CLOSED_0_DIFF_TABS"
		}
		return texts(first), nil
	}
	return p.diagnosticsOf(first)
}

var closedTabs = regexp.MustCompile(`^CLOSED_\d{1,4}_DIFF_TABS$`)

// diffResult passes what the user did and, if they saved it, the new contents.
func diffResult(c []text) (any, error) {
	switch {
	case len(c) == 0:
	case c[0].Text == "FILE_SAVED" && len(c) >= 2:
		return texts("FILE_SAVED", c[1].Text), nil
	case c[0].Text == "TAB_CLOSED", c[0].Text == "DIFF_REJECTED":
		return texts(c[0].Text), nil
	}
	return nil, held("an answer of the IDE to openDiff that is not understood")
}

func serverOf(result json.RawMessage) (any, error) {
	var in struct {
		Protocol string         `json:"protocolVersion"`
		Server   implementation `json:"serverInfo"`
	}
	if json.Unmarshal(result, &in) != nil || !protocolDate.MatchString(in.Protocol) {
		return nil, held("an answer of the IDE to initialize that is not understood")
	}
	type capabilities struct {
		Tools struct{} `json:"tools"`
	}
	return struct {
		Protocol     string         `json:"protocolVersion"`
		Capabilities capabilities   `json:"capabilities"`
		Server       implementation `json:"serverInfo"`
	}{in.Protocol, capabilities{}, in.Server.clean()}, nil
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"inputSchema"`
}

type toolList struct {
	Tools []tool `json:"tools"`
}

// toolsOf keeps the tools that may be called.
func toolsOf(result json.RawMessage) (any, error) {
	var in toolList
	if json.Unmarshal(result, &in) != nil {
		return nil, held("an answer of the IDE to tools/list that is not understood")
	}
	in.Tools = slices.DeleteFunc(in.Tools, func(t tool) bool { _, ok := tools()[t.Name]; return !ok || t.Schema == nil })
	for i := range in.Tools {
		in.Tools[i].Description = plain.Line(in.Tools[i].Description)
	}
	if in.Tools == nil {
		in.Tools = []tool{}
	}
	return in, nil
}
