package chat

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"

// messages are the messages of a request, each with a comma before it.
type messages struct {
	buf   []byte
	spare []byte
	unite bool // messages of one role that follow each other become one

	// The message added last.
	at         core.Place // of the client's
	role       string
	start, end int  // its content
	whole      bool // it holds more than content, so that nothing can join it
}

func (t *messages) reset(unite bool) { *t = messages{buf: t.buf[:0], spare: t.spare[:0], unite: unite} }

func (t *messages) empty() bool { return len(t.buf) == 0 }

// add adds a message: the members after its role, its content, nil for null, and
// the members behind that.
func (t *messages) add(at core.Place, role string, head []byte, c *contentBuffer, tail []byte) {
	t.at = at
	if t.unite && role == t.role && !t.whole && len(head) == 0 {
		t.spare = c.appendTo(t.spare[:0])
		t.extend(t.spare)
	} else {
		t.role = role
		t.buf = append(append(append(t.buf, `,{"role":"`...), role...), '"')
		t.buf = append(append(t.buf, head...), `,"content":`...)
		t.start = len(t.buf)
		t.buf = c.appendTo(t.buf)
	}
	t.end = len(t.buf)
	t.whole = len(head)+len(tail) > 0
	t.buf = append(append(t.buf, tail...), '}')
}

// extend adds a value to the content of the last message, in place: a text
// with a blank line between, parts behind parts.
func (t *messages) extend(value []byte) {
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
func (t *messages) toArray() {
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
	dst = append(dst, openText[:len(openText)-1]...)
	dst = append(dst, value...)
	return append(dst, '}')
}

// mark puts a breakpoint on the last part of the last message, if that has one
// to mark.
func (t *messages) mark() bool {
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
