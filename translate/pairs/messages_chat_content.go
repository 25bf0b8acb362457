package pairs

// partText begins a text part.
const partText = `{"type":"text","text":"`

// breakpoint marks the end of what a cache should keep.
const breakpoint = `,"prompt_cache_breakpoint":{"mode":"explicit"}`

// content gathers the content of one chat message: a text of several pieces
// or, once something else than text joins them, an array of parts. It is kept
// as JSON; texts are never decoded.
type content struct {
	between string // two pieces of a text, escaped
	buf     []byte
	ends    []int // of the pieces of a text
	array   bool
	spare   []byte
}

func (c *content) reset(between string) {
	c.between, c.buf, c.ends, c.array = between, c.buf[:0], c.ends[:0], false
}

// empty reports whether nothing was added. No piece is empty.
func (c *content) empty() bool { return len(c.buf) == 0 }

// add adds a text whose escaped pieces are given.
func (c *content) add(text ...[]byte) {
	c.open()
	for _, t := range text {
		c.buf = append(c.buf, t...)
	}
	c.close()
}

// open begins a text, which the caller appends to buf, escaped.
func (c *content) open() {
	switch {
	case c.array:
		c.part(partText)
	case len(c.ends) > 0:
		c.buf = append(c.buf, c.between...)
	}
}

// close ends a text.
func (c *content) close() {
	if c.array {
		c.buf = append(c.buf, `"}`...)
	} else {
		c.ends = append(c.ends, len(c.buf))
	}
}

// part begins a part with its first bytes; the caller appends the others.
func (c *content) part(first string) {
	c.toArray()
	if len(c.buf) > 0 {
		c.buf = append(c.buf, ',')
	}
	c.buf = append(c.buf, first...)
}

// mark puts a breakpoint on the part added last.
func (c *content) mark() {
	c.toArray()
	c.buf = append(c.buf[:len(c.buf)-1], breakpoint+"}"...)
}

// toArray makes a part of each piece of a text.
func (c *content) toArray() {
	if c.array {
		return
	}
	c.array = true
	pieces := c.buf
	c.buf, c.spare = c.spare[:0], pieces
	start := 0
	for _, end := range c.ends {
		c.part(partText)
		c.buf = append(c.buf, pieces[start:end]...)
		c.buf = append(c.buf, `"}`...)
		start = end + len(c.between)
	}
}

// join adds all of another content.
func (c *content) join(other *content) {
	if other.empty() {
		return
	}
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

// appendTo appends the content as a JSON value.
func (c *content) appendTo(dst []byte) []byte {
	first, last := byte('"'), byte('"')
	if c.array {
		first, last = '[', ']'
	}
	dst = append(dst, first)
	dst = append(dst, c.buf...)
	return append(dst, last)
}

// turns are the messages of a chat request, each with a comma before it.
type turns struct {
	buf   []byte
	unite bool // messages of one role that follow each other become one

	// The message added last.
	index      int // that of the client's message
	role       string
	start, end int  // its content
	whole      bool // it holds more than content, so that nothing can join it
}

func (t *turns) reset(unite bool) { *t = turns{buf: t.buf[:0], unite: unite} }

// add adds a message: the members after its role, its content as a JSON value,
// and the members behind that.
func (t *turns) add(index int, role string, head, value, tail []byte) {
	t.index = index
	if t.unite && role == t.role && !t.whole && len(head) == 0 {
		t.extend(value)
	} else {
		t.role = role
		t.buf = append(t.buf, `,{"role":"`...)
		t.buf = append(t.buf, role...)
		t.buf = append(t.buf, '"')
		t.buf = append(t.buf, head...)
		t.buf = append(t.buf, `,"content":`...)
		t.start = len(t.buf)
		t.buf = append(t.buf, value...)
	}
	t.end = len(t.buf)
	t.whole = len(head)+len(tail) > 0
	t.buf = append(t.buf, tail...)
	t.buf = append(t.buf, '}')
}

// extend adds a value to the content of the last message, in place: a text
// with a blank line between, parts behind parts.
func (t *turns) extend(value []byte) {
	t.buf = t.buf[:t.end]
	switch old := t.buf[t.start]; {
	case value[0] == 'n': // null
	case old == 'n':
		t.buf = append(t.buf[:t.start], value...)
	case old == '"' && value[0] == '"':
		t.buf = append(t.buf[:t.end-1], `\n\n`...)
		t.buf = append(t.buf, value[1:]...)
	default:
		t.toArray()
		t.buf[len(t.buf)-1] = ','
		t.buf = appendParts(t.buf, value)
		t.buf = append(t.buf, ']')
	}
}

// toArray makes the last message's content, where the buffer ends, an array.
func (t *turns) toArray() {
	if t.buf[t.start] == '[' {
		return
	}
	text := append([]byte(nil), t.buf[t.start:]...)
	t.buf = append(t.buf[:t.start], '[')
	t.buf = appendParts(t.buf, text)
	t.buf = append(t.buf, ']')
}

// appendParts appends the parts of a content.
func appendParts(dst, value []byte) []byte {
	if value[0] == '[' {
		return append(dst, value[1:len(value)-1]...)
	}
	dst = append(dst, partText[:len(partText)-1]...)
	dst = append(dst, value...)
	return append(dst, '}')
}

// mark puts a breakpoint on the last part of the last message, if that has one
// to mark.
func (t *turns) mark() bool {
	if t.role == "" || t.whole || t.role == "assistant" || t.buf[t.start] == 'n' {
		return false
	}
	t.buf = t.buf[:t.end]
	t.toArray()
	t.buf = append(t.buf[:len(t.buf)-2], breakpoint+"}]"...)
	t.end = len(t.buf)
	t.buf = append(t.buf, '}')
	return true
}
