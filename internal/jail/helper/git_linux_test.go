package helper

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// gitScene is a user's home, a project in it, and files beside both.
type gitScene struct {
	user             GitUser
	project, outside string
}

func newGitScene(t *testing.T) gitScene {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("found no git, want one")
	}
	base := t.TempDir()
	s := gitScene{
		user:    GitUser{Git: git, Home: filepath.Join(base, "home"), Time: 30 * time.Second},
		project: filepath.Join(base, "home", "office", "project"),
		outside: filepath.Join(base, "outside"),
	}
	for _, dir := range []string{s.project, s.outside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.write(t, s.user.Home+"/.gitconfig", "[user]\n\tname = Global\n\temail = global@example.test\n")
	s.write(t, s.outside+"/secret", "[user]\n\tname = SECRET\n\temail = secret@example.test\n")
	if out, err := s.git("init", "-q"); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return s
}

func (s gitScene) write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
		t.Fatal(err)
	}
}

// git is the naive way: git in the project with the user's rights.
func (s gitScene) git(args ...string) (string, error) {
	cmd := exec.Command(s.user.Git, args...)
	cmd.Dir, cmd.Env = s.project, []string{"HOME=" + s.user.Home, "PATH=/usr/bin:/bin"}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func TestGitIdentity(t *testing.T) {
	needJail(t)
	project := "[user]\n\temail = project@example.test\n"
	for _, test := range []struct {
		name        string
		files       map[string]string // below the user's home
		name_, mail string
	}{
		{"global", nil, "Global", "global@example.test"},
		{"none", map[string]string{".gitconfig": ""}, "", ""},
		{"project", map[string]string{"office/project/.git/config": project}, "Global", "project@example.test"},
		{"only XDG", map[string]string{".gitconfig": "", ".config/git/config": "[user]\n\tname = Xdg\n"}, "Xdg", ""},
		{"include", map[string]string{".gitconfig": "[include]\n\tpath = mine\n", "mine": "[user]\n\tname = Mine\n"}, "Mine", ""},
		{"include for a folder", map[string]string{
			".gitconfig":      "[user]\n\tname = G\n[includeIf \"gitdir:~/office/\"]\n\tpath = ~/.gitconfig-work\n[includeIf \"gitdir:~/play/\"]\n\tpath = ~/.gitconfig-play\n",
			".gitconfig-work": "[user]\n\temail = work@example.test\n", ".gitconfig-play": "[user]\n\temail = play@example.test\n",
		}, "G", "work@example.test"},
		{"include of an include", map[string]string{
			".gitconfig": "[include]\n\tpath = a/one\n", "a/one": "[Include]\n\tpath = two\n", "a/two": "[user]\n\tname = Two\n",
		}, "Two", ""},
		{"control characters", map[string]string{"office/project/.git/config": "[user]\n\tname = \"a\\nb\"\n"}, "", "global@example.test"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newGitScene(t)
			for path, text := range test.files {
				s.write(t, filepath.Join(s.user.Home, path), text)
			}
			id, err := GitIdentity(deadline(t), openDir(t, s.project), s.user)
			if want := (Identity{Name: test.name_, Email: test.mail}); err != nil || id != want {
				t.Errorf("GitIdentity = %+v, %v, want %+v", id, err, want)
			}
			if email, _ := s.git("config", "user.email"); email != id.Email {
				t.Errorf("git itself says %q", email)
			}
		})
	}
}

// TestGitTraps plants what a virtual machine could write into the project. The
// naive way reads the secret, runs the program or hangs; the helper says
// what the user's own configuration says.
func TestGitTraps(t *testing.T) {
	needJail(t)
	gitDir := func(s gitScene) string { return s.project + "/.git" }
	config := func(s gitScene) string { return gitDir(s) + "/config" }
	replace := func(path, to string) error { return errors.Join(os.RemoveAll(path), os.Symlink(to, path)) }
	for _, test := range []struct {
		name  string
		plant func(t *testing.T, s gitScene) error
		naive string // what the naive way gives
	}{
		{"include", func(t *testing.T, s gitScene) error {
			s.write(t, config(s), "[include]\n\tpath = "+s.outside+"/secret\n")
			return nil
		}, "SECRET"},
		{"include through a symlink", func(t *testing.T, s gitScene) error {
			s.write(t, config(s), "[include]\n\tpath = inside\n")
			return os.Symlink(s.outside+"/secret", gitDir(s)+"/inside")
		}, "SECRET"},
		{"config is a symlink", func(_ *testing.T, s gitScene) error { return replace(config(s), s.outside+"/secret") }, "SECRET"},
		{"gitdir file", func(t *testing.T, s gitScene) error {
			other := s.outside + "/repo"
			if err := os.Rename(gitDir(s), other); err != nil {
				return err
			}
			s.write(t, other+"/config", "[user]\n\tname = SECRET\n")
			s.write(t, gitDir(s), "gitdir: "+other+"\n")
			return nil
		}, "SECRET"},
		{"include of a FIFO", func(t *testing.T, s gitScene) error {
			s.write(t, config(s), "[include]\n\tpath = fifo\n")
			return unix.Mkfifo(gitDir(s)+"/fifo", 0o600)
		}, "hung"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newGitScene(t)
			if err := test.plant(t, s); err != nil {
				t.Fatal(err)
			}
			naive := ""
			if !within(func() { naive, _ = s.git("config", "user.name") }, gitDir(s)+"/fifo", unix.O_RDWR) {
				naive = "hung"
			}
			if naive != test.naive {
				t.Errorf("the naive way gives %q, want %q", naive, test.naive)
			}
			if test.naive == "hung" {
				s.user.Time = 5 * time.Second
			}
			id, err := GitIdentity(deadline(t), openDir(t, s.project), s.user)
			if err != nil || id.Name != "Global" || id.Email != "global@example.test" {
				t.Errorf("GitIdentity = %+v, %v", id, err)
			}
			t.Logf("left out: %v", id.Unread)
		})
	}
}

// TestGitPrograms: configuration that names programs starts none.
func TestGitPrograms(t *testing.T) {
	needJail(t)
	s := newGitScene(t)
	marker := s.project + "/ran"
	s.write(t, s.project+"/.git/evil", "#!/bin/sh\ntouch "+marker+"\n")
	evil := s.project + "/.git/evil"
	s.write(t, s.project+"/.git/config", fmt.Sprintf(
		"[core]\n\tfsmonitor = %[1]s\n\tpager = %[1]s\n\thooksPath = .git\n\tsshCommand = %[1]s\n\teditor = %[1]s\n[alias]\n\tconfig = !%[1]s\n[pager]\n\tconfig = %[1]s\n", evil))
	if _, err := GitIdentity(deadline(t), openDir(t, s.project), s.user); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program of the project ran")
	}
	_, _ = s.git("status")
	if _, err := os.Stat(marker); err != nil {
		t.Errorf("the naive way ran no program: %v", err)
	}
}
