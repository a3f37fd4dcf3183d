package helper

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"aibox/internal/proc"
)

const roleGit = "git"

// GitUser says where the user's own git and its configuration are.
type GitUser struct {
	Git       string // absolute path of the program
	Home      string
	XDGConfig string // $XDG_CONFIG_HOME; empty for the default
	// Time limits each of the helpers; 0 means 5 seconds.
	Time time.Duration
	Lax  bool
}

// Identity is the name and e-mail address for commits; empty is not set.
type Identity struct {
	Name, Email string
	// Unread says why the project's own configuration was left out, nil if it
	// was not. Then the identity is the one for every other project.
	Unread error
}

// Limits of what git says.
const (
	maxIdentity = 256 // bytes of one value
	gitTime     = 5 * time.Second
)

// gitInput is the input of roleGit.
type gitInput struct {
	User    GitUser
	File    string   // list this file's include settings, else the identity
	Project bool     // in the call's folder, else in none
	Read    []string // files of the user's that the includes name
}

// GitIdentity returns user.name and user.email as git in the project folder
// would use them. The project's configuration is the work of an earlier virtual
// machine: git reads it in a helper that can read the project, the user's
// global configuration and the files that this includes, and nothing else, can
// write nothing, and reaches no network. So a planted include, link or
// gitdir leads nowhere; where git then gives up, or does not end, the
// identity comes from the user's own configuration alone.
func GitIdentity(ctx context.Context, project *os.File, user GitUser) (Identity, error) {
	if user.Time == 0 {
		user.Time = gitTime
	}
	read, err := user.included(ctx)
	if err != nil {
		return Identity{}, err
	}
	out, unread := runGit(ctx, project, gitInput{User: user, Read: read, Project: true})
	if unread == nil {
		return identity(out), nil
	}
	out, err = runGit(ctx, nil, gitInput{User: user, Read: read})
	if err != nil {
		return Identity{}, err
	}
	id := identity(out)
	id.Unread = unread
	return id, nil
}

// runGit runs git config in a helper. Exit status 1 says that nothing is set.
func runGit(ctx context.Context, folder *os.File, in gitInput) ([]byte, error) {
	out, err := Run(ctx, Call{Role: roleGit, Input: in, Folder: folder, Lax: in.User.Lax, Time: in.User.Time})
	if exit := (*proc.ExitError)(nil); errors.As(err, &exit) && exit.How == "exit status 1" && len(out) == 0 {
		return nil, nil
	}
	return out, err
}

// identity reads settings as "key\nvalue", each ended by a zero byte; the last
// of a key counts. A value that is no short line of text is as good as none.
func identity(out []byte) Identity {
	var id Identity
	for _, setting := range strings.Split(string(out), "\x00") {
		key, value, _ := strings.Cut(setting, "\n")
		if !line(value) {
			value = ""
		}
		switch key {
		case "user.name":
			id.Name = value
		case "user.email":
			id.Email = value
		}
	}
	return id
}

func line(s string) bool {
	return len(s) <= maxIdentity && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
