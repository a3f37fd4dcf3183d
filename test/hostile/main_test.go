//go:build hostile

package hostile

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"aibox/internal/share/ninep/helper"
)

// Programs and images under test, from the environment (scripts/hostile.sh).
type environment struct {
	aibox, attacker, testImage, virtiofsd string
}

func readEnvironment() environment {
	return environment{os.Getenv("AIBOX_BIN"), os.Getenv("AIBOX_ATTACKER"), os.Getenv("AIBOX_TEST_IMAGE"), os.Getenv("AIBOX_VIRTIOFSD")}
}

// leastAttacks is how many attacks a whole run has to count.
const leastAttacks = 100

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == helper.Command { // the 9p server of this program's attacks
		os.Exit(helper.Main(os.Args[2:]))
	}
	if env := readEnvironment(); env.aibox == "" || env.attacker == "" || env.testImage == "" || os.Geteuid() == 0 {
		fmt.Fprintln(os.Stderr, "test/hostile: run these by `make hostile`, which sets AIBOX_BIN, AIBOX_ATTACKER and AIBOX_TEST_IMAGE and uses an ordinary user")
		os.Exit(1)
	}
	flag.Parse()
	start := time.Now()
	code := m.Run()
	fmt.Printf("\n%s in %v\n", verdicts.table(os.Stdout), time.Since(start).Round(time.Second))
	all, refused := verdicts.count()
	whole := flag.Lookup("test.run").Value.String() == ""
	if whole && all < leastAttacks {
		fmt.Printf("only %d attacks ran, want at least %d\n", all, leastAttacks)
		code = 1
	}
	if refused != all {
		code = 1
	}
	open := all - refused
	if code != 0 && open == 0 {
		open = 1 // a test failed outside of an attack: what it would have shown is not known
		fmt.Println("a test failed outside of an attack")
	}
	fmt.Printf("hostile: %d attacks, %d refused, %d open\n", all, refused, open)
	os.Exit(code)
}

// verdict is a line of the table.
type verdict struct {
	attack, guard string
	control       bool // it succeeded with the guard off
	open          bool
}

type table struct {
	mu    sync.Mutex
	lines []verdict
}

var verdicts table

func (v *table) add(line verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lines = append(v.lines, line)
}

// rename names an attack by what was only known when it ran.
func (v *table) rename(from, to string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range v.lines {
		if v.lines[i].attack == from {
			v.lines[i].attack = to
		}
	}
}

func (v *table) count() (all, refused int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, l := range v.lines {
		if !l.open {
			refused++
		}
	}
	return len(v.lines), refused
}

func (v *table) table(w io.Writer) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	wide, guard, controls := len("attack"), len("guard"), 0
	for _, l := range v.lines {
		wide, guard = max(wide, len([]rune(l.attack))), max(guard, len([]rune(l.guard)))
	}
	row := func(a, g, c, v string) { fmt.Fprintf(w, "%-*s  %-*s  %-7s  %s\n", wide, a, guard, g, c, v) }
	row("attack", "guard", "control", "verdict")
	row(strings.Repeat("-", wide), strings.Repeat("-", guard), "-------", "-------")
	for _, l := range v.lines {
		control, verdict := "", "refused"
		if l.control {
			control = "yes"
			controls++
		}
		if l.open {
			verdict = "OPEN"
		}
		row(l.attack, l.guard, control, verdict)
	}
	return fmt.Sprintf("%d attacks, %d of them with a control,", len(v.lines), controls)
}

// patience bounds one attack unless it says otherwise.
const patience = 60 * time.Second

// attack runs one attack as a sub-test. do fails its test when the attack
// worked, when its control did not, and when it could not be tried.
func attack(t *testing.T, name, guard string, control bool, do func(t *testing.T)) {
	t.Helper()
	attackWithin(t, patience, name, guard, control, do)
}

func attackWithin(t *testing.T, limit time.Duration, name, guard string, control bool, do func(t *testing.T)) {
	t.Helper()
	ran := false // not if the command line chose others
	ok := t.Run(name, func(t *testing.T) {
		ran = true
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("panic: %v\n%s", p, debug.Stack())
				}
			}()
			do(t)
		}()
		select {
		case <-ended:
		case <-time.After(limit):
			t.Errorf("no end within %v", limit)
			<-ended // everything in it has a deadline of its own
		}
	})
	if !ran {
		return
	}
	verdicts.add(verdict{attack: name, guard: guard, control: control, open: !ok})
}
