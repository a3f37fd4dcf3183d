package vm

// difference is what a share answers otherwise than a local disk: by virtiofs,
// by 9p, "" for no difference. docs/shares.md says it to users.
type difference struct {
	virtiofs, ninep string
	says            string // words of the document
}

func (d difference) of(kind string) string {
	if kind == "9p" {
		return d.ninep
	}
	return d.virtiofs
}

// differences are the known ones by the names of fscase's cases.
func differences() map[string]difference {
	const (
		tmpfile = "O_TMPFILE"
		setID   = "setuid and setgid"
		xattr   = "extended attributes"
	)
	stepFails := func(step, errno string) string { return "step " + step + ": " + errno }
	list := map[string]difference{
		"setxattr f user.x value ; getxattr f user.x": {stepFails("setxattr f user.x value", "EOPNOTSUPP"), "", xattr},
		"getxattr f user.x":                           {"EOPNOTSUPP", "", xattr},
		"listxattr f":                                 {"EOPNOTSUPP", "", xattr},
	}
	for open, rest := range map[string][]string{
		"open d RDWR|TMPFILE 0600":      {"write x ; pread 0 5", "ls d", "write x ; linkfd d/named ; cat d/named"},
		"open d RDWR|TMPFILE|EXCL 0600": {"linkfd d/named"},
	} {
		for _, steps := range rest {
			list[open+" ; "+steps] = difference{stepFails(open, "EOPNOTSUPP"), stepFails(open, "EOPNOTSUPP"), tmpfile}
		}
	}
	for step, look := range map[string]string{
		"chmod f 04755": "stat f mode", "chmod f 02755": "stat f mode", "chmod d 02755": "stat d mode", "open new RDWR|CREAT 04755": "stat new mode",
	} {
		list[step+" ; "+look] = difference{stepFails(step, "EPERM"), stepFails(step, "EPERM"), setID}
	}
	return list
}
