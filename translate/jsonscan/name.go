package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// readName consumes and decodes a member's name, and hashes it if repeated names are to
// be detected.
func (c *Cursor) readName() bool {
	if c.pos == len(c.data) || c.data[c.pos] != '"' {
		c.fail(c.pos, whyName)
		return false
	}
	if c.unnamed {
		return c.readPlainName() || c.readAnyName()
	}
	return c.readHashedName() || c.readAnyName()
}

// readAnyName consumes a name of any kind.
func (c *Cursor) readAnyName() bool {
	end, escaped, reason := c.stringEnd()
	if reason != "" {
		c.fail(end, reason)
		return false
	}
	if c.name = unquoted(c.data[c.pos:end]); escaped {
		c.nameBuf = appendDecoded(c.nameBuf[:0], c.name)
		c.name = c.nameBuf
	}
	c.nameHash = hashName(c.name)
	c.pos = end
	return true
}

// readHashedName consumes an ASCII name without escapes, and hashes its words while it
// searches for the end. It reports false, and consumes nothing, for any other name, and
// for one in the last bytes of the document.
func (c *Cursor) readHashedName() bool {
	first, sum := c.pos+1, uint64(0)
	for i := first; i+8 <= len(c.data); i += 8 {
		w := binary.LittleEndian.Uint64(c.data[i:])
		hit := (special(w) | w) & highs
		if hit == 0 {
			sum = mixed(sum, w)
			continue
		}
		n := bits.TrailingZeros64(hit) &^ 7 // the bits in front of the first such byte
		end := i + n/8
		if c.data[end] != '"' {
			return false
		}
		c.name, c.pos = c.data[first:end:end], end+1
		c.nameHash = uint32(mixed(sum, w&(1<<n-1)) >> 32)
		return true
	}
	return false
}

// maxPlainName is the length, in bytes, up to which names have a loop of their own.
// Nearly all names of members are shorter.
const maxPlainName = 24

// readPlainName consumes a short name without escapes in a valid document. It reports
// false, and consumes nothing, for any other name.
func (c *Cursor) readPlainName() bool {
	text := c.data[c.pos+1 : min(c.pos+1+maxPlainName, len(c.data))]
	for i, b := range text {
		switch b {
		case '"':
			c.name = text[:i:i]
			c.pos += i + len(`""`)
			return true
		case '\\':
			return false
		}
	}
	return false
}
