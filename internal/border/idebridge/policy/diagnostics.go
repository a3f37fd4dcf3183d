package policy

import "encoding/json"

type diagnosed struct {
	URI         string       `json:"uri"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Message  string `json:"message"`
	Severity scalar `json:"severity,omitempty"`
	Source   string `json:"source,omitempty"`
	Code     scalar `json:"code,omitempty"`
	Range    *span  `json:"range,omitempty"`
}

type span struct {
	Start position  `json:"start"`
	End   *position `json:"end,omitempty"`
}

// scalar is a string or number as it was; anything else becomes nothing.
type scalar json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(b []byte) error {
	*s = nil
	if c := b[0]; c == '"' || c == '-' || c >= '0' && c <= '9' {
		*s = append(scalar(nil), b...)
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (s scalar) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("null"), nil
	}
	return s, nil
}

// diagnosticsOf keeps the files of the project.
func (p Policy) diagnosticsOf(list string) (any, error) {
	var in []diagnosed
	if list != "" && json.Unmarshal([]byte(list), &in) != nil {
		return nil, held("diagnostics of the IDE that are not understood")
	}
	out := []diagnosed{}
	for _, d := range in {
		uri, err := p.Project.URIToGuest(d.URI)
		if err != nil {
			continue // the IDE has other projects open too
		}
		if d.Diagnostics == nil {
			d.Diagnostics = []diagnostic{}
		}
		out = append(out, diagnosed{uri, d.Diagnostics})
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, held("diagnostics of the IDE that are not understood")
	}
	return texts(string(b)), nil
}
