package chat

import "bytes"

// The separators of texts that become one, as they stand in JSON.
const (
	lineFeed  = `\n`
	blankLine = `\n\n`
)

// openText begins a text part.
const openText = `{"type":"text","text":"`

// breakpoint marks the end of what a cache should keep.
const breakpoint = `,"prompt_cache_breakpoint":{"mode":"explicit"}`

// contentBuffer gathers the content of one chat message: a text of several pieces
// or, once something else than text joins them, an array of parts. It is kept
// as JSON; texts are never decoded.
type contentBuffer struct {
	between string // two pieces of a text, escaped
	only    []byte // the text, which stands in the body as long as it is the only one
	buf     []byte
	ends    []int // of the pieces of a text
	array   bool
	spare   []byte
}

func (c *contentBuffer) reset(between string) {
	c.between, c.only, c.buf, c.ends, c.array = between, nil, c.buf[:0], c.ends[:0], false
}

// empty reports whether nothing was added. No piece is empty.
func (c *contentBuffer) empty() bool { return len(c.only)+len(c.buf) == 0 }

// say adds a text of the body. One that nothing follows is copied once, to where
// it belongs.
func (c *contentBuffer) say(text []byte) {
	if c.empty() && !c.array {
		c.only = text
	} else {
		c.add(text)
	}
}

// settle makes the only text one of several.
func (c *contentBuffer) settle() {
	if text := c.only; text != nil {
		c.only = nil
		c.add(text)
	}
}

// fuse makes one piece of those of a text.
func (c *contentBuffer) fuse() {
	c.settle()
	if !c.array {
		c.ends = append(c.ends[:0], len(c.buf))
	}
}

// add adds a text whose escaped pieces are given.
func (c *contentBuffer) add(text ...[]byte) {
	c.open()
	for _, t := range text {
		c.buf = append(c.buf, t...)
	}
	c.close()
}

// open begins a text, which the caller appends to buf, escaped.
func (c *contentBuffer) open() {
	switch c.settle(); {
	case c.array:
		c.part(openText)
	case len(c.ends) > 0:
		c.buf = append(c.buf, c.between...)
	}
}

// close ends a text.
func (c *contentBuffer) close() {
	if c.array {
		c.buf = append(c.buf, `"}`...)
	} else {
		c.ends = append(c.ends, len(c.buf))
	}
}

// part begins a part with its first bytes; the caller appends the others.
func (c *contentBuffer) part(first string) {
	c.toArray()
	if len(c.buf) > 0 {
		c.buf = append(c.buf, ',')
	}
	c.buf = append(c.buf, first...)
}

// mark puts a breakpoint on the part added last.
func (c *contentBuffer) mark() {
	c.toArray()
	c.buf = append(c.buf[:len(c.buf)-1], breakpoint+"}"...)
}

// toArray makes a part of each piece of a text.
func (c *contentBuffer) toArray() {
	if c.settle(); c.array {
		return
	}
	c.array = true
	pieces := c.buf
	c.buf, c.spare = c.spare[:0], pieces
	start := 0
	for _, end := range c.ends {
		c.part(openText)
		c.buf = append(c.buf, pieces[start:end]...)
		c.buf = append(c.buf, `"}`...)
		start = end + len(c.between)
	}
}

// join adds all of another content.
func (c *contentBuffer) join(other *contentBuffer) {
	if other.empty() {
		return
	}
	if c.empty() {
		c.between, other.between = other.between, c.between
		*c, *other = *other, *c
		return
	}
	c.settle()
	other.settle()
	if c.array || other.array {
		c.toArray()
		other.toArray()
		c.part("")
		c.buf = append(c.buf, other.buf...)
		return
	}
	if len(c.ends) > 0 {
		c.buf = append(c.buf, c.between...)
	}
	for _, end := range other.ends {
		c.ends = append(c.ends, len(c.buf)+end)
	}
	c.buf = append(c.buf, other.buf...)
}

// size returns how much memory the content keeps, in bytes.
func (c *contentBuffer) size() int {
	const end = 8
	return cap(c.buf) + cap(c.spare) + end*cap(c.ends)
}

// appendTo appends the content as a JSON value.
func (c *contentBuffer) appendTo(dst []byte) []byte {
	first, last := byte('"'), byte('"')
	if c.array {
		first, last = '[', ']'
	}
	dst = append(dst, first)
	dst = append(append(dst, c.only...), c.buf...)
	return append(dst, last)
}

const blame = "Error: "

// blame begins the content with a word that says it is an error, since no field
// can. A text that says so itself is left alone.
func (c *contentBuffer) blame() {
	start := 0
	switch c.settle(); {
	case c.empty():
		c.add([]byte("Error:"))
		return
	case c.array && !bytes.HasPrefix(c.buf, []byte(openText)):
		c.insert(0, openText+`Error:"},`)
		return
	case c.array:
		start = len(openText)
	}
	said := c.buf[start:min(start+len("error:"), len(c.buf))]
	if !bytes.EqualFold(said, []byte("error:")) {
		c.insert(start, blame)
	}
}

// insert puts bytes into the first piece or in front of it.
func (c *contentBuffer) insert(at int, what string) {
	c.buf = append(c.buf, what...)
	copy(c.buf[at+len(what):], c.buf[at:])
	copy(c.buf[at:], what)
	for i := range c.ends {
		c.ends[i] += len(what)
	}
}

// addLines adds the lines that are not empty as one text, if there are any.
func (c *contentBuffer) addLines(lines ...[]byte) {
	opened := false
	for _, line := range lines {
		switch {
		case len(line) == 0:
			continue
		case opened:
			c.buf = append(c.buf, lineFeed...)
		default:
			c.open()
			opened = true
		}
		c.buf = append(c.buf, line...)
	}
	if opened {
		c.close()
	}
}
