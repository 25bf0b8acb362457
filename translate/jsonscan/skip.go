package jsonscan

// nest contains the kinds of open containers, one bit each: set for an object. It
// replaces recursion, whose stack would be as deep as a document chooses.
type nest struct {
	bits    [(MaxDepth + 63) / 64]uint64
	depth   int
	closing byte // the last byte of the innermost container, 0 for none
}

// push opens a container.
func (n *nest) push(closing byte) {
	word, bit := n.depth/64, uint64(1)<<(n.depth%64)
	n.bits[word] &^= bit
	if closing == '}' {
		n.bits[word] |= bit
	}
	n.depth++
	n.closing = closing
}

// pop closes the innermost container.
func (n *nest) pop() {
	n.depth--
	switch i := n.depth - 1; {
	case i < 0:
		n.closing = 0
	case n.bits[i/64]>>(i%64)&1 == 1:
		n.closing = '}'
	default:
		n.closing = ']'
	}
}

// Skip consumes a value of any kind, checks it completely, except for members
// that occur twice, and returns it as it is written.
func (c *Cursor) Skip() []byte {
	_, slot := c.SkipAt()
	if slot.End == 0 {
		return nil
	}
	return c.at.data[slot.Start:slot.End:slot.End]
}

// SkipAt is Skip, but returns the kind of the value and its position: Invalid and the zero
// Slot after an error.
func (c *Cursor) SkipAt() (kind Kind, slot Slot) {
	kind = c.Kind()
	var end int
	var reason string
	switch {
	case kind == Invalid:
		return Invalid, Slot{}
	case c.strings.valid:
		end, reason = c.strings.texts.knownEnd(c.at.data, c.at.pos)
	case kind == String:
		end, _, reason = c.strings.end(c.at.data, c.at.pos)
	case kind < String:
		end, reason = scalarEnd(c.at.data, c.at.pos, kind)
	default:
		end, reason = valueEnd(c.at.data, c.at.pos, MaxDepth-c.at.depth)
	}
	if reason != "" {
		c.at.fail(end, reason)
		return Invalid, Slot{}
	}
	slot = Slot{c.at.pos, end}
	c.at.pos, c.at.phase = end, done
	return kind, slot
}

// scalarEnd returns the end of the null, the boolean or the number at i.
func scalarEnd(data []byte, i int, kind Kind) (end int, reason string) {
	if kind == Number {
		return numberEnd(data, i)
	}
	return literalEnd(data, i)
}

// valueEnd returns the end of the value at i, in which room containers may be
// open at once, or where and why it is wrong.
func valueEnd(data []byte, i, room int) (end int, reason string) {
	var open nest
	for {
		var opened bool
		if i, opened, reason = begin(data, i, &open, room); reason != "" {
			return i, reason
		}
		if !opened {
			i, reason = finish(data, i, &open)
			if open.depth == 0 || reason != "" {
				return i, reason
			}
		}
		if open.closing == '}' {
			if i, reason = nameEnd(data, i); reason != "" {
				return i, reason
			}
		}
		i = spaceEnd(data, i)
	}
}

// begin consumes a scalar, an empty container, or the first byte of a container
// that is not empty: then opened is true.
func begin(data []byte, i int, open *nest, room int) (end int, opened bool, reason string) {
	if i == len(data) {
		return i, false, whyEnd
	}
	switch kind := kinds[data[i]]; kind {
	case String:
		end, _, reason = stringEnd(data, i)
	case Number:
		end, reason = numberEnd(data, i)
	case Null, Bool:
		end, reason = literalEnd(data, i)
	case Array, Object:
		return beginContainer(data, i, open, room)
	default:
		return i, false, whyValue
	}
	return end, false, reason
}

// beginContainer is begin for containers.
func beginContainer(data []byte, i int, open *nest, room int) (end int, opened bool, reason string) {
	if open.depth == room {
		return i, false, whyDepth
	}
	first := spaceEnd(data, i+1)
	if first < len(data) && data[first] == data[i]+2 { // '[' and ']', '{' and '}' are two apart
		return first + 1, false, ""
	}
	open.push(data[i] + 2)
	return first, true, ""
}

// finish consumes the ends of the containers that end behind a value, and the
// comma behind them.
func finish(data []byte, i int, open *nest) (end int, reason string) {
	for open.depth > 0 {
		if i = spaceEnd(data, i); i == len(data) {
			return i, whyEnd
		}
		switch data[i] {
		case ',':
			return spaceEnd(data, i+1), ""
		case open.closing:
			open.pop()
			i++
		default:
			return i, whyNext
		}
	}
	return i, ""
}

// nameEnd consumes a member's name and the colon behind it.
func nameEnd(data []byte, i int) (end int, reason string) {
	if i == len(data) || data[i] != '"' {
		return i, whyName
	}
	end, _, reason = stringEnd(data, i)
	if reason != "" {
		return end, reason
	}
	if end = spaceEnd(data, end); end == len(data) || data[end] != ':' {
		return end, whyColon
	}
	return end + 1, ""
}
