package proto

// Version is the one protocol version that is spoken.
const Version = "9P2000.L"

// HeaderSize is the bytes before a message's fields: size, type and tag.
const HeaderSize = 7

// Bytes of a message around the data that it carries.
const (
	// ReadOverhead is an Rread's or Rreaddir's bytes before the data.
	ReadOverhead = HeaderSize + 4
	// WriteOverhead is a Twrite's bytes before the data.
	WriteOverhead = HeaderSize + 16
)

// NoTag is the tag of Tversion and NoFid stands for no file.
const (
	NoTag = 0xffff
	NoFid = 0xffffffff
)

// MaxWalk is the most names in one Twalk.
const MaxWalk = 16

// The types of requests. The answer's type is the request's plus one.
const (
	Tstatfs      = 8
	Tlopen       = 12
	Tlcreate     = 14
	Tsymlink     = 16
	Tmknod       = 18
	Trename      = 20
	Treadlink    = 22
	Tgetattr     = 24
	Tsetattr     = 26
	Txattrwalk   = 30
	Txattrcreate = 32
	Treaddir     = 40
	Tfsync       = 50
	Tlock        = 52
	Tgetlock     = 54
	Tlink        = 70
	Tmkdir       = 72
	Trenameat    = 74
	Tunlinkat    = 76
	Tversion     = 100
	Tauth        = 102
	Tattach      = 104
	Tflush       = 108
	Twalk        = 110
	Tread        = 116
	Twrite       = 118
	Tclunk       = 120
	Tremove      = 122
)

// Rlerror is the answer that carries an error.
const Rlerror = 7

// Kinds in a Qid.
const (
	QidDir     = 0x80
	QidSymlink = 0x02
	QidFile    = 0
)

// Flags of Tlopen and Tlcreate, as Linux has them on most machines.
const (
	OpenRead      = 0
	OpenWrite     = 1
	OpenReadWrite = 2
	OpenAccess    = 3
	OpenTruncate  = 0o1000
	OpenAppend    = 0o2000
	OpenDataSync  = 0o10000
	OpenSync      = 0o4010000
)

// Bits of Tsetattr's Valid.
const (
	SetMode     = 1 << 0
	SetUID      = 1 << 1
	SetGID      = 1 << 2
	SetSize     = 1 << 3
	SetATime    = 1 << 4
	SetMTime    = 1 << 5
	SetCTime    = 1 << 6
	SetATimeTo  = 1 << 7 // to the given time, not to now
	SetMTimeTo  = 1 << 8
	setKnown    = 1<<9 - 1
	AttrBasic   = 0x7ff // the parts of an Attr that are always there
	RemoveDir   = 0x200 // Tunlinkat's flag for a folder
	TypeMask    = 0o170000
	TypeFile    = 0o100000
	TypeDir     = 0o040000
	TypeSymlink = 0o120000
	SetIDBits   = 0o6000
	ModeBits    = 0o7777
)

// SetKnown tells whether all bits of a Tsetattr's Valid have a meaning.
func SetKnown(valid uint32) bool { return valid&^uint32(setKnown) == 0 }

// Locks: what a Tgetlock answers where there is none, and Tlock's success.
const (
	LockUnlocked = 2
	LockSuccess  = 0
)

// Qid names a file: two names of one file have the same.
type Qid struct {
	Type    uint8
	Version uint32
	Path    uint64
}

// Time is seconds and nanoseconds since 1970.
type Time struct{ Sec, Nsec uint64 }

// Attr is what Tgetattr answers.
type Attr struct {
	Valid                uint64
	Qid                  Qid
	Mode, UID, GID       uint32
	Links, Device        uint64
	Size, Block, Blocks  uint64
	ATime, MTime, CTime  Time
	BTime                Time
	Generation, DataVers uint64
}

// SetAttr is what Tsetattr asks.
type SetAttr struct {
	Valid          uint32
	Mode, UID, GID uint32
	Size           uint64
	ATime, MTime   Time
}

// StatFS is what Tstatfs answers.
type StatFS struct {
	Type, BlockSize         uint32
	Blocks, Free, Available uint64
	Files, FilesFree, ID    uint64
	NameLength              uint32
}

// Entry is one file of a folder. Offset is where the entries behind it begin.
type Entry struct {
	Qid    Qid
	Offset uint64
	Type   uint8 // as in Linux's struct dirent
	Name   string
}

// EntryOverhead is an Entry's bytes without its name.
const EntryOverhead = 24
