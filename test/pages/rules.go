package pages

// Place is where a test follows the pages.
type Place int

// The places.
const (
	// Machine has everything but a VM.
	Machine Place = iota + 1
	// VM boots real ones, but has no checkout.
	VM
)

// Rule is what the reader of a page does beside typing a command, or why the
// command is not typed.
type Rule struct {
	Page, Command string // without the comment
	// Only is the one place where it can be typed; 0 for both.
	Only Place
	// NotHere is the reason why it is typed in no test.
	NotHere string
	Answers []Answer
	// AnswersVM are given in the VM's place instead.
	AnswersVM []Answer
	// Config are lines that the reader adds in the editor.
	Config []string
	// Copied is a pattern: the reader first types the last line of the screen that
	// matches it.
	Copied string
	// Quiet is for a search that may find nothing, which is exit code 1.
	Quiet bool
	// Sees is a pattern of what the command must print.
	Sees string
}

// Answer is what is typed once a pattern is on the screen.
type Answer struct{ Await, Send string }

// blanks stands for what may be drawn between two words on a full screen.
const blanks = `(?:\s|\x1b\[[0-9;?]*[A-Za-z])*`

// Rules is every command with more to it than to be typed and to end with 0.
func Rules() []Rule {
	const key = "env: [ANTHROPIC_API_KEY]"
	claude := []Answer{
		{"Claude" + blanks + "Code", ""}, {"/project", "/exit"}, {"/exit", "\r"},
	}
	shell := []Answer{{`\$ $`, "exit\r"}}
	pager := []Answer{{`(?s).`, "q"}}
	suggest := []Answer{{`Add it\? \[Y/n\] $`, "\r"}}
	return []Rule{
		{Page: "README.md", Command: "make demo", NotHere: "it builds the image; make test runs its last step, aibox demo"},
		{Page: "README.md", Command: "make test", NotHere: "it runs this test"},
		{Page: "bench.md", Command: "make bench", NotHere: "it measures for 20 minutes, on a machine that does nothing else"},
		{Page: "bench.md", Command: "make bench ROW='prompt share'", NotHere: "the same, for minutes"},
		{Page: "README.md", Command: "make install", Only: Machine},
		{Page: "README.md", Command: "aibox run", Only: VM, AnswersVM: claude, Sees: "Claude"},
		{Page: "README.md", Command: "aibox run --shell", Only: VM, AnswersVM: shell},
		{Page: "README.md", Command: "aibox demo", Only: VM, Sees: "demo passed"},
		{Page: "README.md", Command: "aibox config edit", Config: []string{key}},
		{Page: "README.md", Command: `aibox task "fix the failing test"`, Only: VM, Sees: "git -C .*/src/my-project .* fetch"},

		{Page: "running.md", Command: "aibox run", Only: VM, AnswersVM: claude, Sees: "Claude"},
		{Page: "running.md", Command: "aibox config edit", Config: []string{key}},
		{Page: "running.md", Command: "aibox run --shell", Only: VM, AnswersVM: shell},
		{Page: "running.md", Command: "aibox run --memory 8192 --cpus 4", Only: VM, AnswersVM: claude, Sees: "Claude"},
		{Page: "running.md", Command: "aibox run --timings", Only: VM, AnswersVM: claude, Sees: "ms  "},

		{Page: "config.md", Command: "aibox config edit", Config: []string{"memory: 4096"}},
		{Page: "config.md", Command: "aibox config suggest", Answers: suggest, Sees: "now allowed: preset:go"},
		{Page: "config.md", Command: "aibox config show", Sees: `memory: 4096`},

		{Page: "tasks.md", Command: "aibox config edit", Config: []string{key}},
		{Page: "tasks.md", Command: `aibox task "Mend the failing tests, and explain what was wrong"`, Only: VM},
		{Page: "tasks.md", Command: "aibox task --from main --timeout 3h --file plan.md", Only: VM},
		{Page: "tasks.md", Command: `git diff | aibox task "Write the tests that this change lacks" --file -`, Only: VM},
		{
			Page: "tasks.md", Command: "git log -p main..FETCH_HEAD", Only: VM, Copied: `git -C .* fetch .*$`,
			Sees: `\+.*scripted`, // in colours; a pager ends by itself on a page that fits
		},
		{Page: "tasks.md", Command: "aibox tasks show", Only: VM, Sees: "state: +finished"},

		{Page: "git.md", Command: "aibox config edit", Config: []string{key, "git:", "  - remote: github.com/me/app", "    fetch: true"}},
		{Page: "git.md", Command: "aibox run", Only: VM, AnswersVM: claude, Sees: "github.com"},
		{Page: "ide.md", Command: "aibox config edit", Config: []string{key, "ide: true"}},
		{Page: "ide.md", Command: "aibox run", Only: VM, AnswersVM: claude, Sees: "IDE"},
		{Page: "ide.md", Command: `grep 'held back ide' "$(dirname "$(aibox config path)")/proxy.log"`, Quiet: true},
		{Page: "clipboard.md", Command: `grep 'held back clipboard' "$(dirname "$(aibox config path)")/proxy.log"`, Quiet: true},

		{Page: "troubleshooting.md", Command: `less "$(dirname "$(aibox config path)")/console.log"`, Answers: pager},
		{Page: "troubleshooting.md", Command: `less "$(dirname "$(aibox config path)")/proxy.log"`, Answers: pager},
		{Page: "troubleshooting.md", Command: "aibox config suggest", Answers: append(suggest, Answer{`Add it\? \[y/N\] $`, "n\r"}), Sees: "refused"},
	}
}

// ruleFor finds a command's rule. A command without one is typed everywhere.
func ruleFor(c Command) Rule {
	for _, r := range Rules() {
		if r.Page == c.Page && r.Command == c.bare() {
			return r
		}
	}
	return Rule{}
}

// NeedVM tells whether a page has a command that only a VM's place can run.
func NeedVM(commands []Command) bool {
	for _, c := range commands {
		if ruleFor(c).Only == VM {
			return true
		}
	}
	return false
}

// Unused returns the rules that no command of the pages has.
func Unused(pages map[string][]Command) (unused []Rule) {
	for _, r := range Rules() {
		found := false
		for _, c := range pages[r.Page] {
			found = found || r.Command == c.bare()
		}
		if !found {
			unused = append(unused, r)
		}
	}
	return unused
}
