package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func seeds() []string {
	return []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"openDiff","arguments":{"tab_name":"<x>"}}}`,
		`{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"\u2028"}}`,
		`{"jsonrpc":"2.0","id":-7,"result":{}}`,
		`{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}`,
	}
}

func TestParse(t *testing.T) {
	for _, s := range seeds() {
		if m, err := Parse([]byte(s)); err != nil || m.Version != "2.0" {
			t.Errorf("%s: %+v, %v", s, m, err)
		}
	}
	for s, want := range map[string]error{
		``:     ErrShape,
		`null`: ErrShape,
		`[]`:   ErrShape,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`:                                ErrShape, // a batch
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                                  ErrShape,
		`{"id":1,"method":"ping"}`:                                                  ErrShape,
		`{"jsonrpc":"2.0"}`:                                                         ErrShape,
		`{"jsonrpc":"2.0","id":1}`:                                                  ErrShape,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                               ErrShape,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                 ErrShape,
		`{"jsonrpc":"2.0","id":[1],"method":"ping"}`:                                ErrShape,
		`{"jsonrpc":"2.0","id":true,"result":1}`:                                    ErrShape,
		`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`:                      ErrShape,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}`:                   ErrShape,
		`{"jsonrpc":"2.0","id":1,"method":7}`:                                       ErrShape,
		`{"jsonrpc":"2.0","id":1,"method":"ping"} {}`:                               ErrShape,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("a", 100) + `","method":"ping"}`: ErrShape,
		`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("a", 100) + `"}`:      ErrShape,
		`{"jsonrpc":"2.0","id":1,"params":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `,"method":"x"}`: ErrDeep,
		strings.Repeat("[", 1<<20):                      ErrDeep,
		strings.Repeat(`{"a":`, 1<<20):                  ErrDeep,
		`{"a":"\"` + `","b":` + strings.Repeat("[", 40): ErrDeep,
	} {
		if m, err := Parse([]byte(s)); !errors.Is(err, want) || !cmp.Equal(m, Message{}) {
			t.Errorf("%.60s: %+v, %v, want %v", s, m, err, want)
		}
	}
	if _, err := Parse([]byte(`{"jsonrpc":"2.0","method":"x","params":{"a":"` + strings.Repeat(`[{\"`, 500) + `"}}`)); err != nil {
		t.Errorf("brackets in a string: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			if !cmp.Equal(m, Message{}) {
				t.Errorf("%q: an error and %+v", b, m)
			}
			return
		}
		again, err := Parse(encode(m))
		if err != nil {
			t.Fatalf("%q: what was written is not read: %v", b, err)
		}
		if a, b := compact(again), compact(m); !bytes.Equal(a, b) {
			t.Errorf("%s became %s", b, a)
		}
	})
}

func compact(m Message) []byte {
	b, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return b
}
