package landlock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBuild builds rules without enforcing them.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	rules, err := Rules{
		ReadFiles: []string{file, link, missing}, ReadDirs: []string{dir, missing}, WriteFiles: []string{os.DevNull},
		WriteDirs: []string{dir}, Exec: []string{file, dir}, ConnectTCP: []uint16{443, 80, 443, 53}, DNS: true,
	}.build()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rules {
		got = append(got, strings.ReplaceAll(fmt.Sprint(r), dir, "DIR"))
	}
	want := []string{
		"REQUIRE {read_file} for paths [DIR/file]",
		"REQUIRE {read_file} for paths [DIR/link]",
		"REQUIRE {read_file,read_dir} for paths [DIR]",
		"REQUIRE {write_file,read_file,truncate} for paths [/dev/null]",
		"REQUIRE {write_file,read_file,read_dir,remove_dir,remove_file,make_dir,make_reg,truncate} for paths [DIR]",
		"REQUIRE {execute,read_file} for paths [DIR/file]",
		"REQUIRE {execute,read_file,read_dir} for paths [DIR]",
		"ALLOW {connect_send_udp} on port 53",
		"ALLOW {bind_udp} on port 0",
		"ALLOW {connect_tcp} on port 53",
		"ALLOW {connect_tcp} on port 80",
		"ALLOW {connect_tcp} on port 443",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	for name, r := range map[string]Rules{
		"folder to read":  {ReadFiles: []string{dir}},
		"folder to write": {WriteFiles: []string{dir}},
		"file as folder":  {ReadDirs: []string{file}},
		"file to fill":    {WriteDirs: []string{file}},
	} {
		if rules, err := r.build(); err == nil {
			t.Errorf("%s: %v, want an error", name, rules)
		}
	}
}
