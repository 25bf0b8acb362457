package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
)

// How text parts begin.
const (
	openInput  = `{"type":"input_text","text":"`
	openOutput = `{"type":"output_text","text":"`
)

// items are the items of a request, each with a comma before it.
type items struct {
	buf []byte

	// The item added last.
	place        core.Place // of the client's
	role         string     // of whom it is; "" for none
	contentStart int        // where the content of a message begins, 0 for another item
}

// Whose an item is.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleDeveloper = "developer"
	roleTool      = "tool"
)

func (t *items) reset() { *t = items{buf: t.buf[:0]} }

func (t *items) empty() bool { return len(t.buf) == 0 }

// add begins an item with its first bytes; the caller appends the others.
func (t *items) add(place core.Place, role, first string) {
	t.place, t.role, t.contentStart = place, role, 0
	t.buf = append(append(t.buf, ','), first...)
}

// message adds a message.
func (t *items) message(place core.Place, role string, c *parts.Content) {
	t.add(place, role, `{"type":"message","role":"`)
	t.buf = append(append(t.buf, role...), `","content":`...)
	t.contentStart = len(t.buf)
	t.buf = append(c.AppendTo(t.buf), '}')
}

// mark puts a breakpoint on the last part, if that is one of the user's or the system's.
func (t *items) mark() bool {
	if t.contentStart == 0 || t.role == roleAssistant {
		return false
	}
	content := t.buf[t.contentStart : len(t.buf)-1]
	if content[0] == '[' {
		t.buf = parts.Mark(t.buf[:len(t.buf)-len(`]}`)])
	} else {
		text := append([]byte(nil), content[1:]...)
		t.buf = append(append(t.buf[:t.contentStart], "["+openInput...), text...)
		t.buf = parts.Mark(append(t.buf, '}'))
	}
	t.buf = append(t.buf, `]}`...)
	return true
}
