package proto

// Request is any message of the client. Which fields count depends on the type.
type Request struct {
	Type uint8
	Tag  uint16

	Fid, NewFid uint32 // the file, and the second file or the new number
	Name        string
	Other       string // a second name, a link's target, the user
	Names       []string
	Flags       uint32
	Mode        uint32
	GID, UID    uint32
	Offset      uint64
	Count       uint32
	Data        []byte
	OldTag      uint16
	Major       uint32
	Minor       uint32
	Mask        uint64
	Set         SetAttr
	Lock        Lock
}

// Lock is what Tlock and Tgetlock ask for.
type Lock struct {
	Type          uint8
	Start, Length uint64
	Process       uint32
	Client        string
}

// ParseRequest reads a whole message, its header included. Data stays part of
// b. It returns false for what is no request, and for one with bytes left over.
func ParseRequest(b []byte, r *Request) bool {
	*r = Request{}
	c := codec{b: b}
	c.header(&r.Type, &r.Tag)
	r.fields(&c)
	return c.complete()
}

// Append appends the message to b. It returns false where a text is too long.
func (r *Request) Append(b []byte) ([]byte, bool) {
	return appendMessage(b, r.Type, r.Tag, func(c *codec) { r.fields(c) })
}

func (r *Request) fields(c *codec) {
	switch r.Type {
	case Tversion:
		c.u32(&r.Count)
		c.text(&r.Name)
	case Tauth:
		c.u32(&r.Fid)
		c.text(&r.Other)
		c.text(&r.Name)
		c.u32(&r.UID)
	case Tattach:
		c.u32(&r.Fid, &r.NewFid)
		c.text(&r.Other)
		c.text(&r.Name)
		c.u32(&r.UID)
	case Tflush:
		c.u16(&r.OldTag)
	case Twalk:
		c.u32(&r.Fid, &r.NewFid)
		r.names(c)
	case Tclunk, Tremove, Treadlink, Tstatfs:
		c.u32(&r.Fid)
	case Tlopen:
		c.u32(&r.Fid, &r.Flags)
	case Tread, Treaddir:
		c.u32(&r.Fid)
		c.u64(&r.Offset)
		c.u32(&r.Count)
	case Twrite:
		c.u32(&r.Fid)
		c.u64(&r.Offset)
		c.data(&r.Data)
	case Tfsync:
		c.u32(&r.Fid, &r.Flags)
	case Tgetattr:
		c.u32(&r.Fid)
		c.u64(&r.Mask)
	case Tsetattr:
		c.u32(&r.Fid, &r.Set.Valid, &r.Set.Mode, &r.Set.UID, &r.Set.GID)
		c.u64(&r.Set.Size)
		c.time(&r.Set.ATime)
		c.time(&r.Set.MTime)
	default:
		r.moreFields(c)
	}
}

// moreFields is fields of what names files, and of what is used less.
func (r *Request) moreFields(c *codec) {
	c.u32(&r.Fid)
	switch r.Type {
	case Tlcreate:
		c.text(&r.Name)
		c.u32(&r.Flags, &r.Mode, &r.GID)
	case Tsymlink:
		c.text(&r.Name)
		c.text(&r.Other)
		c.u32(&r.GID)
	case Tmknod:
		c.text(&r.Name)
		c.u32(&r.Mode, &r.Major, &r.Minor, &r.GID)
	case Tmkdir:
		c.text(&r.Name)
		c.u32(&r.Mode, &r.GID)
	case Tlink, Trename:
		c.u32(&r.NewFid)
		c.text(&r.Name)
	case Trenameat:
		c.text(&r.Name)
		c.u32(&r.NewFid)
		c.text(&r.Other)
	case Tunlinkat:
		c.text(&r.Name)
		c.u32(&r.Flags)
	case Txattrwalk:
		c.u32(&r.NewFid)
		c.text(&r.Name)
	case Txattrcreate:
		c.text(&r.Name)
		c.u64(&r.Mask)
		c.u32(&r.Flags)
	case Tlock, Tgetlock:
		r.lock(c)
	default:
		c.bad = true
	}
}

func (r *Request) lock(c *codec) {
	c.u8(&r.Lock.Type)
	if r.Type == Tlock {
		c.u32(&r.Flags)
	}
	c.u64(&r.Lock.Start, &r.Lock.Length)
	c.u32(&r.Lock.Process)
	c.text(&r.Lock.Client)
}

func (r *Request) names(c *codec) {
	n := uint16(len(r.Names))
	c.u16(&n)
	if n > MaxWalk {
		c.bad = true
	}
	for i := 0; i < int(n) && !c.bad; i++ {
		if !c.write {
			r.Names = append(r.Names, "")
		}
		c.text(&r.Names[i])
	}
}
