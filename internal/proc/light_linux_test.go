package proc

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestSessionOfLightProgramWeighsLess(t *testing.T) {
	if _, err := os.Stat("/proc/self/autogroup"); err != nil {
		t.Skip("this kernel has no autogroups")
	}
	if group := sessionWeight(t, false); strings.HasSuffix(group, "nice "+lightNice) {
		t.Errorf("a program's session is %q", group)
	}
	// A user's wish is refused within 100 ms after anybody's, such as another test's.
	group := ""
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if group = sessionWeight(t, true); strings.HasSuffix(group, "nice "+lightNice) {
			return
		}
	}
	t.Errorf("a light program's session is %q", group)
}

func sessionWeight(t *testing.T, light bool) string {
	t.Helper()
	cmd := self("gentle")
	cmd.Light = light
	p, out := started(t, cmd)
	readLine(t, out)
	group, err := os.ReadFile(fmt.Sprintf("/proc/%d/autogroup", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	p.Kill()
	return strings.TrimSpace(string(group))
}
