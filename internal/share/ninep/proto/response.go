package proto

import "encoding/binary"

// Response is any message of the server. Which fields count depends on the type.
type Response struct {
	Type uint8
	Tag  uint16

	Errno  Errno
	Count  uint32 // bytes that were written, the message size, or an I/O unit
	Name   string // a version, a link's target, a lock's owner
	Qid    Qid
	Qids   []Qid
	Data   []byte
	Attr   Attr
	StatFS StatFS
	Lock   Lock
	Status uint8
}

// ParseResponse is ParseRequest for a message of the server.
func ParseResponse(b []byte, r *Response) bool {
	*r = Response{}
	c := codec{b: b}
	c.header(&r.Type, &r.Tag)
	r.fields(&c)
	return c.complete()
}

// Append appends the message to b. It returns false where a text is too long.
func (r *Response) Append(b []byte) ([]byte, bool) {
	return appendMessage(b, r.Type, r.Tag, func(c *codec) { r.fields(c) })
}

func (r *Response) fields(c *codec) {
	switch r.Type {
	case Rlerror:
		c.u32((*uint32)(&r.Errno))
	case Tversion + 1:
		c.u32(&r.Count)
		c.text(&r.Name)
	case Tattach + 1, Tsymlink + 1, Tmknod + 1, Tmkdir + 1:
		c.qid(&r.Qid)
	case Twalk + 1:
		r.qids(c)
	case Tlopen + 1, Tlcreate + 1:
		c.qid(&r.Qid)
		c.u32(&r.Count)
	case Tread + 1, Treaddir + 1:
		c.data(&r.Data)
	case Twrite + 1:
		c.u32(&r.Count)
	case Treadlink + 1:
		c.text(&r.Name)
	case Tgetattr + 1:
		r.attr(c)
	case Tstatfs + 1:
		s := &r.StatFS
		c.u32(&s.Type, &s.BlockSize)
		c.u64(&s.Blocks, &s.Free, &s.Available, &s.Files, &s.FilesFree, &s.ID)
		c.u32(&s.NameLength)
	case Tlock + 1:
		c.u8(&r.Status)
	case Tgetlock + 1:
		c.u8(&r.Lock.Type)
		c.u64(&r.Lock.Start, &r.Lock.Length)
		c.u32(&r.Lock.Process)
		c.text(&r.Lock.Client)
	case Tclunk + 1, Tremove + 1, Tflush + 1, Tsetattr + 1, Tfsync + 1, Tlink + 1, Trename + 1, Trenameat + 1, Tunlinkat + 1:
	default:
		c.bad = true
	}
}

func (r *Response) attr(c *codec) {
	a := &r.Attr
	c.u64(&a.Valid)
	c.qid(&a.Qid)
	c.u32(&a.Mode, &a.UID, &a.GID)
	c.u64(&a.Links, &a.Device, &a.Size, &a.Block, &a.Blocks)
	for _, t := range []*Time{&a.ATime, &a.MTime, &a.CTime, &a.BTime} {
		c.time(t)
	}
	c.u64(&a.Generation, &a.DataVers)
}

func (r *Response) qids(c *codec) {
	n := uint16(len(r.Qids))
	c.u16(&n)
	if n > MaxWalk {
		c.bad = true
	}
	for i := 0; i < int(n) && !c.bad; i++ {
		if !c.write {
			r.Qids = append(r.Qids, Qid{})
		}
		c.qid(&r.Qids[i])
	}
}

// AppendEntry appends a folder's entry to an Rreaddir's data.
func AppendEntry(b []byte, e *Entry) []byte {
	c := codec{b: b, write: true}
	e.fields(&c)
	return c.b
}

// ParseEntry reads the first entry of an Rreaddir's data and returns the rest.
func ParseEntry(b []byte, e *Entry) (rest []byte, ok bool) {
	*e = Entry{}
	c := codec{b: b}
	e.fields(&c)
	return c.b, !c.bad
}

func (e *Entry) fields(c *codec) {
	c.qid(&e.Qid)
	c.u64(&e.Offset)
	c.u8(&e.Type)
	c.text(&e.Name)
}

// PutDataHeader writes the header of an Rread or Rreaddir whose data, n bytes,
// stands at ReadOverhead in b already.
func PutDataHeader(b []byte, kind uint8, tag uint16, n int) {
	binary.LittleEndian.PutUint32(b, uint32(ReadOverhead+n))
	b[4] = kind
	binary.LittleEndian.PutUint16(b[5:], tag)
	binary.LittleEndian.PutUint32(b[7:], uint32(n))
}

func appendMessage(b []byte, kind uint8, tag uint16, fields func(*codec)) ([]byte, bool) {
	start := len(b)
	c := codec{b: append(b, 0, 0, 0, 0), write: true}
	c.u8(&kind)
	c.u16(&tag)
	fields(&c)
	binary.LittleEndian.PutUint32(c.b[start:], uint32(len(c.b)-start))
	return c.b, !c.bad
}
