package work

// Names of the results of Share.
const (
	Untar  = "untar"
	Status = "git status"
	Create = "create"
	Write  = "write"
	Read   = "read"
)

// Size of the work on files.
const (
	TreeFiles     = 10000 // of the repository that git looks at
	UnpackedFiles = 2000  // of the archive
	CreatedFiles  = 5000
	folders       = 50
	StreamMB      = 256
)

// Tree is the folder of the repository below the one that is worked on. A host
// puts it there, where it serves the folder.
const Tree = "tree"

// Archives are in one folder: of the repository, and of the files to unpack.
const (
	TreeArchive  = "tree.tar"
	FilesArchive = "files.tar"
)
