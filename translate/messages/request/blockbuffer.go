package request

// blockBuffer gathers what is said in a messages request: the messages, the system
// prompt, or the tools. It is kept as JSON; texts are never decoded.
type blockBuffer struct {
	buf   []byte
	text  []byte // that follows: of the last block, still in the body
	rest  string // that follows the text
	role  string // of the message that is open
	start int    // the blocks of that message
	front int    // the end of those that lead it

	marks  [maxBreakpoints]mark // the last ones
	marked int
	lost   bool // there were others
}

// mark is a breakpoint of the cache.
type mark struct {
	at  int    // the closing brace of the block
	ttl []byte // raw; nil for none
}

// maxBreakpoints is how many breakpoints a messages request may have.
const maxBreakpoints = 4

// emptied returns a buffer that holds nothing, with the memory of this one.
func (b *blockBuffer) emptied() blockBuffer { return blockBuffer{buf: b.buf[:0]} }

func (b *blockBuffer) empty() bool { return len(b.buf) == 0 }

// begin begins a block with its first bytes, in a message of that role: the open
// one, if it is. A role of "" is that of a block within a block, or of a list
// without messages. The caller appends the rest.
func (b *blockBuffer) begin(role, first string) {
	b.settle()
	if role != "" && role != b.role {
		b.close()
		b.comma()
		b.buf = append(b.buf, `{"role":"`...)
		b.buf = append(b.buf, role...)
		b.buf = append(b.buf, `","content":[`...)
		b.role, b.start, b.front = role, len(b.buf), len(b.buf)
	}
	b.comma()
	b.buf = append(b.buf, first...)
}

// comma divides what follows from what stands before it in the same list.
func (b *blockBuffer) comma() {
	if n := len(b.buf); n > 0 && b.buf[n-1] != '[' {
		b.buf = append(b.buf, ',')
	}
}

// close closes the open message.
func (b *blockBuffer) close() {
	switch {
	case b.role == "":
	case b.rest == "":
		b.buf = append(b.buf, "]}"...)
	default:
		b.rest = closeText + "]}"
	}
	b.role = ""
}

// settle copies the text of the last block behind the others. One that nothing
// follows is copied once, to where it belongs.
func (b *blockBuffer) settle() {
	b.buf = append(append(b.buf, b.text...), b.rest...)
	b.text, b.rest = nil, ""
}

// A text block without its text.
const (
	openText  = `{"type":"text","text":"`
	closeText = `"}`
)

// say ends a text block that was begun; the text is escaped, and stands in the body.
func (b *blockBuffer) say(text []byte) { b.text, b.rest = text, closeText }

// mark puts a breakpoint on the block added last.
func (b *blockBuffer) mark(ttl []byte) {
	if b.settle(); b.marked == maxBreakpoints {
		copy(b.marks[:], b.marks[1:])
		b.marked--
		b.lost = true
	}
	b.marks[b.marked] = mark{len(b.buf) - 1, ttl}
	b.marked++
}

// appendTo appends what was gathered with its last breakpoints, as many as there
// is room for, and returns how many that were.
func (b *blockBuffer) appendTo(dst []byte, room int) (out []byte, used int) {
	if b.marked > room {
		b.lost = true
	}
	used = min(b.marked, room)
	from := 0
	for _, m := range b.marks[b.marked-used : b.marked] {
		dst = append(dst, b.buf[from:m.at]...)
		dst = append(dst, `,"cache_control":{"type":"ephemeral"`...)
		if m.ttl != nil {
			dst = append(append(dst, `,"ttl":`...), m.ttl...)
		}
		dst = append(dst, '}')
		from = m.at
	}
	dst = append(append(dst, b.buf[from:]...), b.text...)
	return append(dst, b.rest...), used
}
