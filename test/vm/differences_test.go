package vm

import "strings"

// anything is the answer of a case that a share may or may not pass.
const anything = "?"

// difference is what a share answers otherwise than a local disk, by its kind:
// "" for no difference. docs/shares.md has a row for each topic.
type difference struct {
	virtiofs, ninep string
	topic           string
}

// differences are the known ones by the names of fscase's cases.
func differences() map[string]difference {
	list := map[string]difference{
		"getxattr f user.x": {"EOPNOTSUPP", "EOPNOTSUPP", "Extended attributes"},
		"listxattr f":       {"EOPNOTSUPP", "EOPNOTSUPP", "Extended attributes"},

		"open new RDWR|CREAT ; pwrite 1048576 x ; seek 0 DATA": {"", "0", "Holes"},
		"chmod full 0444 ; ls full":                            {"", "EACCES", "Folders without x"},

		"utimes f 1000000000.123456789 ; stat f mtime": {"", "1000000000", "Times that a program sets"},
		"utimes f 1000000000.123456789 ; stat f atime": {"", "1000000000", "Times that a program sets"},
		"utimes d 1000000000.5 ; stat d mtime":         {"", "1000000000", "Times that a program sets"},
		"utimes f -1000 ; stat f mtime":                {"", "0", "Times that a program sets"},

		"truncate f 9223372036854775807": {anything, anything, "The largest file"},

		"appends of many are kept": {"", anything, "Appending by several programs at once"},
	}
	for _, f := range failing() {
		for _, rest := range f.rest {
			name, got := f.step, f.errno
			if rest != "" { // the step is not the last one
				name, got = f.step+" ; "+rest, "step "+f.step+": "+f.errno
			}
			d := difference{got, got, f.topic}
			if !f.virtiofs {
				d.virtiofs = ""
			}
			list[strings.TrimPrefix(f.before+" ; ", " ; ")+name] = d
		}
	}
	return list
}

// failure is a step that fails on a share, on 9p and maybe on virtiofs, in all
// cases that begin with it.
type failure struct {
	virtiofs            bool
	before, step, errno string
	rest                []string
	topic               string
}

func failing() []failure {
	const setID, fallocate, rename, special = "Set-id bits", "Holes", "Renaming with conditions", "FIFOs and sockets"
	return []failure{
		{true, "", "setxattr f user.x value", "EOPNOTSUPP", []string{"getxattr f user.x"}, "Extended attributes"},
		{true, "", "open d RDWR|TMPFILE 0600", "EOPNOTSUPP", []string{"write x ; pread 0 5", "ls d", "write x ; linkfd d/named ; cat d/named"}, "O_TMPFILE"},
		{true, "", "open d RDWR|TMPFILE|EXCL 0600", "EOPNOTSUPP", []string{"linkfd d/named"}, "O_TMPFILE"},
		{true, "", "chmod f 04755", "EPERM", []string{"stat f mode"}, setID},
		{true, "", "chmod f 02755", "EPERM", []string{"stat f mode"}, setID},
		{true, "", "chmod d 02755", "EPERM", []string{"stat d mode"}, setID},
		{true, "", "open new RDWR|CREAT 04755", "EPERM", []string{"stat new mode"}, setID},

		{false, "open f RDWR", "fallocate DEFAULT 0 8192", "EOPNOTSUPP", []string{"stat f size"}, fallocate},
		{false, "open f RDWR", "fallocate KEEP 0 8192", "EOPNOTSUPP", []string{"stat f size"}, fallocate},
		{false, "open f RDWR", "fallocate KEEP|PUNCH 0 4", "EOPNOTSUPP", []string{"cat f"}, fallocate},
		{false, "", "rename2 f g NOREPLACE", "EINVAL", []string{"cat g", "put f new ; rename2 f g NOREPLACE"}, rename},
		{false, "put g other", "rename2 f g EXCHANGE", "EINVAL", []string{"cat f"}, rename},
		{false, "", "rename2 f d EXCHANGE", "EINVAL", []string{"lstat d type"}, rename},
		{false, "", "mkfifo p 0600", "EPERM", []string{"lstat p type", "open p RDWR|NONBLOCK ; write x ; read 1", "open p WRONLY|NONBLOCK"}, special},
		{false, "", "listen s", "EPERM", []string{"lstat s type", "connect s", "open s RDONLY", "unlink s ; lstat s type"}, special},
	}
}
