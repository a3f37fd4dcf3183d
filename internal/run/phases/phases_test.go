package phases

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"aibox/internal/border/control"
)

func TestPrint(t *testing.T) {
	c := Start()
	c.Mark(Prepare)
	c.Steps([]control.Step{{Name: "root", Took: 1500 * time.Microsecond}})
	c.Mark(Guest)
	var out strings.Builder
	c.Print(&out)
	want := regexp.MustCompile(`^ +[0-9.]+ ms  check and open what the run needs
 +[0-9.]+ ms  init, up to a ready session
     1\.5 ms    init: root
 +[0-9.]+ ms  start to prompt
$`)
	if !want.MatchString(out.String()) {
		t.Errorf("printed\n%s", out.String())
	}
}
