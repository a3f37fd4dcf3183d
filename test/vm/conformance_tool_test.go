//go:build vm

package vm

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// git works as a developer does, on the share and from there in a worktree.
func (c conformance) git() {
	out := c.slow(`set -e; mkdir /project/git && cd /project/git
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
git init -q -b main repo && cd repo
mkdir src && for i in 1 2 3 4 5 6; do seq $((i * 10)) > src/file$i; done && chmod +x src/file1 && ln -s src/file2 link
git add . && git commit -qm base
git checkout -q -b topic && echo topic >> src/file1 && git commit -qam topic
git checkout -q main && git mv src/file6 moved && rm src/file5 && git commit -qam main
git rebase -q main topic
test "$(git log --format=%s | tr '\n' ,)" = 'topic,main,base,'
git worktree add -q ../worktree main
(cd ../worktree && echo more > more && git add more && git commit -qm worktree && git status --porcelain)
git worktree remove ../worktree
git gc -q --prune=now && git fsck --full --strict
git checkout -q main && git status --porcelain && git log --format=%s | head -n 2`)
	if want := "worktree\nmain\n"; !strings.HasSuffix(out, want) || strings.Contains(out, "??") {
		c.Errorf("git printed %q, want %q", out, want)
	}
	loose, err := filepath.Glob(filepath.Join(c.project, "git", "repo", ".git", "objects", "??"))
	packs, _ := filepath.Glob(filepath.Join(c.project, "git", "repo", ".git", "objects", "pack", "*.pack"))
	if err != nil || len(loose) != 0 || len(packs) != 1 {
		c.Errorf("after gc the host has loose objects in %v and packs %v", loose, packs)
	}
}

// sqlite has two processes write one database each way that keeps a journal.
func (c conformance) sqlite() {
	const script = `
import sqlite3, subprocess, sys
mode, path = sys.argv[1:3]
if len(sys.argv) > 3:
    db = sqlite3.connect(path, timeout=60, isolation_level=None)
    for n in range(60):
        db.execute("begin immediate")
        (count,) = db.execute("select n from counter").fetchone()
        db.execute("update counter set n = ?", (count + 1,))
        db.execute("insert into row values (?, ?)", (sys.argv[3], "x" * n * 40))
        db.execute("commit")
    sys.exit()
db = sqlite3.connect(path, timeout=60)
print(db.execute("pragma journal_mode=" + mode).fetchone()[0])
db.executescript("create table counter (n); insert into counter values (0); create table row (who, text)")
writers = [subprocess.Popen([sys.executable, __file__, mode, path, str(i)]) for i in range(2)]
print(*[w.wait() for w in writers])
print(*db.execute("select n, (select count(*) from row) from counter").fetchone())
print(db.execute("pragma integrity_check").fetchone()[0])
db.close()
`
	c.vm.must("mkdir /project/sqlite && cat > /tmp/sqlite.py <<'EOF'" + script + "EOF")
	for _, mode := range []string{"wal", "delete", "truncate"} {
		want := mode + "\n0 0\n120 120\nok\n"
		if got := c.slow("python3 /tmp/sqlite.py " + mode + " /project/sqlite/" + mode); got != want {
			c.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
	left, err := filepath.Glob(filepath.Join(c.project, "sqlite", "*-*"))
	if err != nil || len(left) != 0 {
		c.Errorf("left on the host: %v", left)
	}
}

// tar unpacks a tree on the share and packs it again to the very same archive.
// Fractions of seconds and FIFOs are fscase's.
func (c conformance) tar() {
	const pack = "tar --sort=name --format=posix --pax-option=delete=atime,delete=ctime -cf - -C "
	out := c.slow(`set -e; cd ` + reference + ` && mkdir tar tar/sub tar/empty && cd tar
for i in $(seq 50); do head -c $((i * 997)) /dev/urandom > sub/file$i; chmod $((400 + i % 8 * 10 + i % 8)) sub/file$i; touch -d @$((1000000000 + i)) sub/file$i; done
ln sub/file1 hard && ln -s sub/file2 soft && ln -s /nowhere/at/all broken && touch -h -d @1234567890 soft broken
truncate -s 3M sub/hole && printf %s "$(printf 'n%.0s' $(seq 250))" | xargs touch && touch -- -dash 'with space' $'new\nline' $'\xff'
find . -newermt 2020-01-01 -type f -exec touch -d @1100000000 {} +
chmod 1777 empty && chmod 750 sub && touch -d @1000000000 sub empty .
` + pack + `. . > /tmp/tar.tar
mkdir /project/tar && tar -xpf /tmp/tar.tar -C /project/tar && tar -df /tmp/tar.tar -C /project/tar
sha256sum < /tmp/tar.tar; ` + pack + `/project/tar . | sha256sum`)
	if sums := strings.Fields(out); len(sums) != 4 || sums[0] != sums[2] {
		c.Errorf("the archives are not the same: %s", out)
	}
	one, err := os.Stat(filepath.Join(c.project, "tar", "hard"))
	two, err2 := os.Stat(filepath.Join(c.project, "tar", "sub", "file1"))
	if err != nil || err2 != nil || !os.SameFile(one, two) || one.Sys().(*syscall.Stat_t).Nlink != 2 || one.ModTime().UnixNano() != 1000000001_000000000 {
		c.Errorf("the host has %v, %v", one, two)
	}
}
