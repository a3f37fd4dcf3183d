package helper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"aibox/internal/jail"
)

// folderFD is the number of the call's folder in the helper.
const folderFD = 3

// FolderPath leads to the call's folder for a role's policy, which wants a path.
const FolderPath = "/proc/self/fd/3"

// MorePath is FolderPath for a folder of Call.More. A call with these must have
// a Folder.
func MorePath(i int) string { return fmt.Sprintf("/proc/self/fd/%d", folderFD+1+i) }

// Main is the helper's side: it reads the request from standard input, gives
// up every right that the role does not need, does the work, and returns the
// exit status. args is the command line after Command.
func (roles Roles) Main(args []string) int {
	err := roles.child(args)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintln(os.Stderr, err)
		return exitMissing
	}
	fmt.Fprintln(os.Stderr, err)
	return exitFailed
}

func (roles Roles) child(args []string) error {
	if len(args) != 1 {
		return errors.New("a helper takes the name of one role")
	}
	role, ok := roles[args[0]]
	if !ok {
		return fmt.Errorf("no helper role %q", args[0])
	}
	message, err := io.ReadAll(io.LimitReader(os.Stdin, maxMessage+1))
	if err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	// An empty or broken request is what is left when aibox dies before it has
	// asked for this process to die with it.
	var r request
	if err := json.Unmarshal(message, &r); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	folder := os.NewFile(folderFD, "folder")
	defer folder.Close()
	policy, work, err := role.Prepare(folder, r.Input)
	if err != nil {
		return err
	}
	if err := limit(role); err != nil {
		return err
	}
	policy.Alone, policy.Lax = true, r.Lax
	if _, err := jail.Apply(policy); err != nil {
		return err
	}
	return work(os.Stdout)
}
