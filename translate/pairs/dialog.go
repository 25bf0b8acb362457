package pairs

// dialog gathers what is said in a messages request: the messages, the system
// prompt, or the tools. It is kept as JSON; texts are never decoded.
type dialog struct {
	buf   []byte
	role  string // of the message that is open
	start int    // the blocks of that message
	front int    // the end of those that lead it

	marks  [maxBreakpoints]mark // the last ones
	marked int
	lost   bool // there were others
}

// mark is a breakpoint of the cache.
type mark struct {
	at  int // the closing brace of the block
	ttl string
}

// maxBreakpoints is how many breakpoints a messages request may have.
const maxBreakpoints = 4

func (d *dialog) reset() { *d = dialog{buf: d.buf[:0]} }

func (d *dialog) empty() bool { return len(d.buf) == 0 }

// begin begins a block with its first bytes, in a message of that role: the open
// one, if it is. A role of "" is that of a block within a block, or of a list
// without messages. The caller appends the rest.
func (d *dialog) begin(role, first string) {
	if role != "" && role != d.role {
		d.close()
		d.comma()
		d.buf = append(d.buf, `{"role":"`...)
		d.buf = append(d.buf, role...)
		d.buf = append(d.buf, `","content":[`...)
		d.role, d.start, d.front = role, len(d.buf), len(d.buf)
	}
	d.comma()
	d.buf = append(d.buf, first...)
}

// comma divides what follows from what stands before it in the same list.
func (d *dialog) comma() {
	if n := len(d.buf); n > 0 && d.buf[n-1] != '[' {
		d.buf = append(d.buf, ',')
	}
}

// close closes the open message.
func (d *dialog) close() {
	if d.role != "" {
		d.buf = append(d.buf, "]}"...)
		d.role = ""
	}
}

const openText = `{"type":"text","text":`

// text adds a text block; the text is a raw string that is not empty.
func (d *dialog) text(role string, raw []byte) {
	d.begin(role, openText)
	d.buf = append(d.buf, raw...)
	d.buf = append(d.buf, '}')
}

// mark puts a breakpoint on the block added last.
func (d *dialog) mark(ttl string) {
	if d.marked == maxBreakpoints {
		copy(d.marks[:], d.marks[1:])
		d.marked--
		d.lost = true
	}
	d.marks[d.marked] = mark{len(d.buf) - 1, ttl}
	d.marked++
}

// appendTo appends what was gathered with its last breakpoints, as many as there
// is room for, and returns how many that were.
func (d *dialog) appendTo(dst []byte, room int) (out []byte, used int) {
	if d.marked > room {
		d.lost = true
	}
	used = min(d.marked, room)
	from := 0
	for _, m := range d.marks[d.marked-used : d.marked] {
		dst = append(dst, d.buf[from:m.at]...)
		dst = append(dst, `,"cache_control":{"type":"ephemeral"`...)
		if m.ttl != "" {
			dst = append(dst, `,"ttl":"`+m.ttl+`"`...)
		}
		dst = append(dst, '}')
		from = m.at
	}
	return append(dst, d.buf[from:]...), used
}
