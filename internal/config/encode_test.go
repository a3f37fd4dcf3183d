package config

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"aibox/internal/hosts"

	"github.com/google/go-cmp/cmp"
)

// filled returns settings of which no field has its default or zero value. A
// new field that this test does not know how to fill fails it.
func filled(t *testing.T) Settings {
	t.Helper()
	s := defaults()
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch f := v.Field(i).Addr().Interface().(type) {
		case *int:
			*f += 300
			if name == "CPUs" {
				*f = 33
			}
		case *bool:
			*f = !*f
		case *ShareKind:
			*f = SharesNineP
		case *[]string:
			*f = []string{"/opt/" + strings.ToLower(name), "SOME_DIRS", "/with space # 'and\""}
		case *hosts.List:
			*f = hosts.List{
				{Kind: hosts.Name, Host: "a.example.com", Port: 443},
				{Kind: hosts.Subdomains, Host: "b.example.com", Port: 8443},
				{Kind: hosts.Address, Addr: netip.MustParseAddr("10.1.2.3"), Port: 80},
				{Kind: hosts.Loopback, Addr: netip.MustParseAddr("::1"), Port: 8080},
			}
		case *[]Mount:
			*f = []Mount{{"~/a: b", "/a"}, {"/c\"d'e", "/home/user/.claude/x y"}}
		case *[]EnvVar:
			*f = []EnvVar{{Name: "A", Value: "b: c # d\n\te=\u2028\"'"}, {Name: "B", FromHost: true}, {Name: "C"}}
		case *[]Remote:
			*f = []Remote{{"a.com/b", true, nil}, {"c.com/d/e", false, []string{"*", "x/*"}}}
		default:
			t.Fatalf("field %s of type %T: teach this test and the encoder", name, f)
		}
		if v.Field(i).IsZero() && v.Field(i).Kind() != reflect.Bool {
			t.Fatalf("field %s is still zero", name)
		}
	}
	return s
}

func TestRoundTrip(t *testing.T) {
	want := filled(t)
	text, err := want.YAML()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("c", text)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	if diff := cmp.Diff(want, got, equal()); diff != "" {
		t.Errorf("settings changed (-want +got):\n%s\n%s", diff, text)
	}
}

func TestEveryKeyHasAField(t *testing.T) {
	v := reflect.TypeFor[document]()
	if v.NumField() != len(keys()) || v.NumField() != reflect.TypeFor[Settings]().NumField() {
		t.Fatalf("document has %d fields, Settings %d, and there are %d keys", v.NumField(), reflect.TypeFor[Settings]().NumField(), len(keys()))
	}
	for i, k := range keys() {
		tag := v.Field(i).Tag
		if tag.Get("yaml") != k.name || tag.Get("json") != k.name {
			t.Errorf("field %s has tags %q, want %q", v.Field(i).Name, tag, k.name)
		}
		if _, err := Parse("c", []byte(k.example)); err != nil {
			t.Errorf("the example of %s is wrong: %v", k.name, err)
		}
	}
}

func TestJSON(t *testing.T) {
	text, err := defaults().JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got["memory"] != 2048.0 || got["claude-md"] != true || len(got["mounts"].([]any)) != 0 {
		t.Errorf("JSON = %s", text)
	}
}

func TestShownHidesSecrets(t *testing.T) {
	s := Settings{Env: []EnvVar{{Name: "ANTHROPIC_API_KEY", Value: "sk"}, {Name: "my_token", Value: "sk"}, {Name: "EDITOR", Value: "vi"}, {Name: "X_TOKEN", FromHost: true}}}
	got := texts(s.Shown().Env)
	if diff := cmp.Diff([]string{"ANTHROPIC_API_KEY=[hidden]", "my_token=[hidden]", "EDITOR=vi", "X_TOKEN"}, got); diff != "" {
		t.Error(diff)
	}
	if s.Env[0].Value != "sk" {
		t.Error("Shown changed its receiver")
	}
}
