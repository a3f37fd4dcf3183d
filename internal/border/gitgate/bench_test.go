package gitgate

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkGitClone clones 200 MB straight from the server and through the gate.
func BenchmarkGitClone(b *testing.B) {
	w := newWorld(b, options{})
	work := filepath.Join(w.dir, "seed")
	for _, name := range []string{"a", "b", "c", "d"} {
		writeNoise(b, filepath.Join(work, name), 50<<20)
	}
	w.must(work, "git", "add", ".")
	w.must(work, "git", "-c", "core.compression=0", "commit", "-q", "-m", "big")
	w.must(work, "git", "push", "-q", w.bare, "main")
	w.must(w.bare, "git", "repack", "-q", "-a", "-d")
	for _, way := range []string{"direct", "gate"} {
		b.Run(way, func(b *testing.B) {
			b.SetBytes(200 << 20)
			for b.Loop() {
				dir := filepath.Join(b.TempDir(), "clone.git")
				args := []string{"git", "clone", "-q", "--bare", "https://" + testRepo, dir}
				if way == "direct" {
					w.direct(args)
				} else {
					w.must(w.dir, args...)
				}
				if err := os.RemoveAll(dir); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// direct runs git as on the host: to the server itself, with the login.
func (w *world) direct(args []string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), args[0], args[1:]...)
	cmd.Dir = w.dir
	cmd.Env = []string{
		"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_SSL_NO_VERIFY=1", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url.https://alice:" + canary + "@" + w.address + "/.insteadOf", "GIT_CONFIG_VALUE_0=https://" + testHost + "/",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
}
