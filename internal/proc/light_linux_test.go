package proc

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestSessionOfLightProgramWeighsLess(t *testing.T) {
	if _, err := os.Stat("/proc/self/autogroup"); err != nil {
		t.Skip("this kernel has no autogroups")
	}
	for _, light := range []bool{false, true} {
		cmd := self("gentle")
		cmd.Light = light
		p, out := started(t, cmd)
		readLine(t, out)
		group, err := os.ReadFile(fmt.Sprintf("/proc/%d/autogroup", p.PID()))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.HasSuffix(string(group), "nice "+lightNice+"\n"); got != light {
			t.Errorf("light %v: its session is %q", light, group)
		}
	}
}
