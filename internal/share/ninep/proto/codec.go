package proto

import "encoding/binary"

// codec moves fields between values and bytes, in the direction that write
// says. Reading beyond the end, or writing a string that is too long, makes it
// bad, and what follows is without effect.
type codec struct {
	b     []byte // what is left to read, or what was written
	write bool
	bad   bool
}

// take returns the next n bytes to read, nil once there are fewer.
func (c *codec) take(n int) []byte {
	if c.bad || n > len(c.b) {
		c.bad = true
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

// header reads what every message begins with, and is bad where the message has
// another size than it says.
func (c *codec) header(kind *uint8, tag *uint16) {
	var size uint32
	got := int64(len(c.b))
	c.u32(&size)
	c.u8(kind)
	c.u16(tag)
	c.bad = c.bad || int64(size) != got
}

// complete tells whether all was read, and nothing is left over.
func (c *codec) complete() bool { return !c.bad && len(c.b) == 0 }

func (c *codec) u8(v *uint8) {
	if c.write {
		c.b = append(c.b, *v)
	} else if b := c.take(1); b != nil {
		*v = b[0]
	}
}

func (c *codec) u16(v *uint16) {
	if c.write {
		c.b = binary.LittleEndian.AppendUint16(c.b, *v)
	} else if b := c.take(2); b != nil {
		*v = binary.LittleEndian.Uint16(b)
	}
}

func (c *codec) u32(values ...*uint32) {
	for _, v := range values {
		if c.write {
			c.b = binary.LittleEndian.AppendUint32(c.b, *v)
		} else if b := c.take(4); b != nil {
			*v = binary.LittleEndian.Uint32(b)
		}
	}
}

func (c *codec) u64(values ...*uint64) {
	for _, v := range values {
		if c.write {
			c.b = binary.LittleEndian.AppendUint64(c.b, *v)
		} else if b := c.take(8); b != nil {
			*v = binary.LittleEndian.Uint64(b)
		}
	}
}

func (c *codec) text(v *string) {
	n := uint16(len(*v))
	if c.write && int(n) != len(*v) {
		c.bad = true
		return
	}
	c.u16(&n)
	if c.write {
		c.b = append(c.b, *v...)
	} else if b := c.take(int(n)); b != nil {
		*v = string(b)
	}
}

// data is a count of 32 bits and as many bytes, which stay part of the message.
func (c *codec) data(v *[]byte) {
	n := uint32(len(*v))
	c.u32(&n)
	switch {
	case c.write:
		c.b = append(c.b, *v...)
	case uint64(n) > uint64(len(c.b)):
		c.bad = true
	default:
		*v = c.take(int(n))
	}
}

func (c *codec) qid(v *Qid) {
	c.u8(&v.Type)
	c.u32(&v.Version)
	c.u64(&v.Path)
}

func (c *codec) time(v *Time) { c.u64(&v.Sec, &v.Nsec) }
