package request

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"

// blockBuffer gathers one list of a messages request as JSON: the messages, the system
// prompt, or the tools. Texts are never decoded.
type blockBuffer struct {
	buf   []byte
	text  []byte // the text of the last block, which is still a slice of the body
	rest  string // the JSON behind the text
	role  string // of the open message, "" for none
	start int    // the beginning of the blocks of the open message
	front int    // the end of its leading blocks, see lead

	marks  [core.MaxBreakpoints]mark // the last breakpoints
	marked int                       // the number of marks
	lost   bool                      // there are more breakpoints than marks
}

// mark is a breakpoint of the cache.
type mark struct {
	end int    // the closing brace of the block
	ttl []byte // raw; nil for none
}

// emptied returns an empty buffer with the memory of this one.
func (b *blockBuffer) emptied() blockBuffer { return blockBuffer{buf: b.buf[:0]} }

func (b *blockBuffer) empty() bool { return len(b.buf) == 0 }

// begin begins a block with its first bytes, in a message of a role: the open message if
// it has that role, or else a new one. The role is "" for a block in another block, and
// in a list without messages. The caller appends the rest of the block.
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

// comma appends the comma between two elements of a list.
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

// settle copies the text of the last block into the buffer. The text of a block that
// nothing follows is copied only once, by writeTo.
func (b *blockBuffer) settle() {
	b.buf = append(append(b.buf, b.text...), b.rest...)
	b.text, b.rest = nil, ""
}

// A text block without its text.
const (
	openText  = `{"type":"text","text":"`
	closeText = `"}`
)

// endText ends a text block with its escaped text, a slice of the body.
func (b *blockBuffer) endText(text []byte) { b.text, b.rest = text, closeText }

// mark puts a breakpoint on the block added last, unless it has one.
func (b *blockBuffer) mark(ttl []byte) {
	b.settle()
	at := len(b.buf) - 1
	if b.marked > 0 && b.marks[b.marked-1].end == at {
		return
	}
	if b.marked == core.MaxBreakpoints {
		copy(b.marks[:], b.marks[1:])
		b.marked--
		b.lost = true
	}
	b.marks[b.marked] = mark{at, ttl}
	b.marked++
}

// writeTo writes the list as a member unless it is empty, with its last breakpoints, at
// most room of them, and returns the number of the breakpoints. It reports the loss of
// further ones, whose concept is excess.
func (b *blockBuffer) writeTo(members *core.Members, x *core.Translation, name string, room int, excess core.Concept) (used int) {
	if b.empty() {
		return 0
	}
	members.Name(name)
	dst := append(*members, '[')
	used = min(b.marked, room)
	start := 0
	for _, m := range b.marks[b.marked-used : b.marked] {
		dst = append(dst, b.buf[start:m.end]...)
		dst = append(dst, `,"cache_control":{"type":"ephemeral"`...)
		if m.ttl != nil {
			dst = append(append(dst, `,"ttl":`...), m.ttl...)
		}
		dst = append(dst, '}')
		start = m.end
	}
	dst = append(append(dst, b.buf[start:]...), b.text...)
	*members = append(append(dst, b.rest...), ']')
	if b.lost || b.marked > used {
		x.Keep(excess, nil)
	}
	return used
}
