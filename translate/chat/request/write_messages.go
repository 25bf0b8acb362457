package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
)

// openText begins a text part.
const openText = `{"type":"text","text":"`

// messages are the messages of a request, each with a comma before it. The last
// one waits, since the next may join it.
type messages struct {
	buf   []byte
	unite bool // successive messages of one role become one message
	note  bool // one of the assistant follows the results of tools

	// The last message.
	place      core.Place // of the client's
	role       string     // "" for none
	head, tail []byte     // its members before and behind the content
	content    parts.Content
	null       bool // its content
}

func (t *messages) reset(unite, note bool) {
	t.content.Reset(openText, "")
	*t = messages{buf: t.buf[:0], unite: unite, note: note, head: t.head[:0], tail: t.tail[:0], content: t.content}
}

func (t *messages) empty() bool { return t.role == "" }

// size returns the size of the memory of all messages without the last content, in bytes.
func (t *messages) size() int { return cap(t.buf) + cap(t.head) + cap(t.tail) }

// resultsRead is the message between the results of tools and one of the user or the system, for models
// that refuse it there.
const resultsRead = `,{"role":"assistant","content":"OK."}`

// add adds a message: the members behind its role, its content, which add takes over, nil
// for null, and the members behind the content.
func (t *messages) add(place core.Place, role string, head []byte, c *parts.Content, tail []byte) {
	if t.note && t.role == "tool" && role != "tool" && role != "assistant" {
		t.buf = append(t.appendLast(t.buf), resultsRead...)
		t.role = ""
	}
	if t.unite && role == t.role && len(head)+len(t.head)+len(t.tail) == 0 {
		t.join(c)
	} else {
		t.buf = t.appendLast(t.buf)
		t.role, t.head = role, append(t.head[:0], head...)
		t.take(c)
	}
	t.place, t.tail = place, append(t.tail[:0], tail...)
}

// take makes c the content of the last message.
func (t *messages) take(c *parts.Content) {
	if t.null = c == nil; !t.null {
		t.content, *c = *c, t.content
	}
}

// join adds a content to the content of the last message: a text behind a blank line,
// parts behind parts.
func (t *messages) join(c *parts.Content) {
	switch {
	case c == nil:
	case t.null:
		t.take(c)
	default:
		t.content.Fuse()
		c.Fuse()
		t.content.JoinWith(c, parts.BlankLine)
	}
}

// appendTo appends all messages.
func (t *messages) appendTo(dst []byte) []byte { return t.appendLast(append(dst, t.buf...)) }

func (t *messages) appendLast(dst []byte) []byte {
	if t.role == "" {
		return dst
	}
	dst = append(append(append(dst, `,{"role":"`...), t.role...), '"')
	dst = append(append(dst, t.head...), `,"content":`...)
	if t.null {
		dst = append(dst, "null"...)
	} else {
		dst = t.content.AppendTo(dst)
	}
	return append(append(dst, t.tail...), '}')
}

// mark puts a breakpoint on the last part of the last message, and reports whether the
// message has a part that can be marked.
func (t *messages) mark() bool {
	if t.null || t.role == "" || t.role == "assistant" || len(t.head)+len(t.tail) > 0 {
		return false
	}
	t.content.Fuse()
	t.content.Mark()
	return true
}
