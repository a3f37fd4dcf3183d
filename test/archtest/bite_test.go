package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// parse returns a file of the repository that holds src.
func parse(t *testing.T, path, src string) goFile {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return goFile{path, f, []byte(src)}
}

// TestCallsBite shows what the rules on calls refuse and what not.
func TestCallsBite(t *testing.T) {
	const lib, cmd = "internal/x/x.go", "cmd/x/main.go"
	for _, c := range []struct {
		path, src string
		want      string // what is refused, "" for nothing
	}{
		{lib, `package x; import "os"; func f() { os.Exit(1) }`, "os.Exit"},
		{cmd, `package main; import "os"; func main() { os.Exit(1) }`, ""},
		{lib, `package x; import "log"; func f() { log.Fatalf("x") }`, "log.Fatalf"},
		{lib, `package x; import . "log"`, ""},
		{lib, `package x; import l "log"; func f() { l.Println() }`, "log.Println"},
		{lib, `package x; import "log/slog"; func f() { slog.Info("x") }`, "log/slog.Info"},
		{lib, `package x; import "log/slog"; func f(l *slog.Logger) { l.Info("x") }`, ""},
		{lib, `package x; import "fmt"; func f() { fmt.Println() }`, "fmt.Println"},
		{lib, `package x; import "fmt"; var p = fmt.Printf`, "fmt.Printf"},
		{"internal/cli/x.go", `package cli; import "fmt"; func f() { fmt.Println() }`, ""},
		{lib, `package x; func f(fmt T) { fmt.Println() }`, ""},
		{lib, `package x; func f() { panic("no") }`, "panic"},
		{lib, `package x; func f(err error) { panic(err) }`, "panic"},
		{lib, `package x; func f() { panic("bug: no") }`, ""},
		{lib, `package x; import "fmt"; func f() { panic(fmt.Sprintf("bug: %d", 1)) }`, ""},
		{lib, `package x; func f() { panic("no bug: " + "bug: x") }`, "panic"},
		{lib, `package x; func init() {}`, "init function"},
		{lib, `package x; func (T) init() {}`, ""},
		{lib, `package x; import "unsafe"; var _ unsafe.Pointer`, "import unsafe"},
		{"internal/x/x_unsafe_linux.go", `package x; import "unsafe"; var _ unsafe.Pointer`, ""},
		{lib, `package x; import "golang.org/x/sys/unix"; func f() { unix.RawSyscall(1, 2, 3, 4) }`, "golang.org/x/sys/unix.RawSyscall"},
		{"internal/x/x_syscall_linux.go", `package x; import "syscall"; func f() { syscall.Syscall(1, 2, 3, 4) }`, ""},
		{lib, `package x; func f() { println() }`, "println"},
	} {
		var got []string
		for _, p := range checkCalls(parse(t, c.path, c.src)) {
			got = append(got, p.what)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s in %s: refused %q, want %q", c.src, c.path, got, c.want)
		}
	}
}

// TestVariablesBite shows which package variables count as mutable.
func TestVariablesBite(t *testing.T) {
	for _, c := range []struct{ src, other, want string }{
		{`var Err = errors.New("x")`, "", ""},
		{`var errX = errors.New("x")`, "", ""},
		{`var _ io.Reader = T{}`, "", ""},
		{`var table = []int{1}; func f() int { return table[0] }`, "", ""},
		{"//go:embed x\nvar files embed.FS", "", ""},
		{`var once sync.Once`, "", "once"},
		{`var n atomic.Int64`, "", "n"},
		{`var c = make(chan int)`, "", "c"},
		{`var Table = []int{1}`, "", "Table"},
		{`var n int; func f() { n = 1 }`, "", "n"},
		{`var n int; func f() { n := 1; n = 2 }`, "", ""},
		{`var n int`, `func f() { n++ }`, "n"},
		{`var n int`, `func f(n int) { n++ }`, ""},
		{`var n int; func f() *int { return &n }`, "", "n"},
		{`var m = map[int]int{}; func f() { m[1] = 2 }`, "", "m"},
		{`var m = map[int]int{}; func f() { delete(m, 1) }`, "", "m"},
		{`var s T; func f() { s.x.y[3] = 2 }`, "", "s"},
	} {
		files := []*ast.File{parse(t, "a.go", "package x\n"+c.src).ast, parse(t, "b.go", "package x\n"+c.other).ast}
		var got []string
		for _, p := range mutableVars(files) {
			got = append(got, p.what)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s and %s: refused %q, want %q", c.src, c.other, got, c.want)
		}
	}
}

// TestDocsBite shows which names count as undocumented.
func TestDocsBite(t *testing.T) {
	f := parse(t, "a.go", `package x
func F() {}
// G is.
func G() {}
func (t T) M() {}
func (t *hidden) M() {}
func (t T) Error() string { return "" }
type T int
// Group.
const (
	A = 1
	B = 2
)
const (
	C = 1 // said here
	D = 2
)
var e int
`)
	var got []string
	for _, n := range undocumented(f.ast) {
		got = append(got, n.name)
	}
	if want := []string{"F", "M", "T", "D"}; !slices.Equal(got, want) {
		t.Errorf("undocumented: %v, want %v", got, want)
	}
}

// TestTextsBite shows what the rules on texts find.
func TestTextsBite(t *testing.T) {
	found := func(needle, text string) bool { return hostPattern([]string{needle}).MatchString(text) }
	const host = "mirror.example.net"
	for text, want := range map[string]bool{
		"https://mirror.example.net/debian": true, "MIRROR.example.NET": true, "(mirror.example.net)": true, "see mirror.example.net.": true,
		"mirror.example.net:8080": true, "*.example.net": false, "a.mirror.example.net": false, "mirror.example.network": false,
		"mirror.example.net.org": false, "mirror-example-net": false,
	} {
		if got := found(host, text); got != want {
			t.Errorf("%q: found %t, want %t", text, got, want)
		}
	}
	for text, want := range map[string]bool{
		"cd /src/me/aibox": true, "file:///src/me/aibox/x": true, "/src/me/aiboxer": false, "/usr/src/me/aibox": false,
	} {
		if got := pathPattern([]string{"/src/me/aibox"}).MatchString(text); got != want {
			t.Errorf("%q: found %t, want %t", text, got, want)
		}
	}
}
