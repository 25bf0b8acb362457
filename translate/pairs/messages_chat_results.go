package pairs

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// What a tool message says when all that the tool returned went elsewhere.
const (
	imageElsewhere    = "[image returned by this tool is in the next user message]"
	documentElsewhere = "[document returned by this tool is in the next user message]"
)

// toolResult writes a message of its own for the result of a tool. Media that
// cannot stand in it go into the user message behind all results.
func (x *messagesChat) toolResult(b *messages.Block, at *place) {
	t := &x.turn
	if !t.content.empty() {
		// Nothing may stand between a call and its results.
		x.losses.AddIn(translate.Shaping, lostMessage, "content")
	}
	x.cached(b, at)
	id := x.resultID(b.ToolUseID)
	t.result.reset(lineFeed)
	elsewhere := x.resultContent(b, at, id)
	if t.result.empty() && elsewhere != "" {
		t.result.add([]byte(elsewhere))
	}
	if x.isTrueAt(b.IsError, at, "is_error") {
		t.result.blame()
	}
	if x.traits.ToolContentParts && len(t.result.ends) > 1 {
		t.result.toArray()
	}
	x.value = t.result.appendTo(x.value[:0])
	x.scratch = append(x.scratch[:0], `,"tool_call_id":"`...)
	x.scratch = append(append(x.scratch, id...), '"')
	x.turns.add(t.at.index, "tool", x.scratch, x.value, nil)
}

// resultID is the provider's own id of a call, escaped.
func (x *messagesChat) resultID(raw []byte) []byte {
	if id := inner(raw); !foreignID(id) {
		return id
	}
	return x.appendID(nil, raw)
}

// resultContent gathers what a tool returned, and says which kind of media went
// to the user message.
func (x *messagesChat) resultContent(b *messages.Block, at *place, id []byte) (elsewhere string) {
	t := &x.turn
	if text := inner(b.Content); len(text) > 0 {
		t.result.add(text)
	}
	to := shelf{texts: &t.result, images: &t.hoisted, files: &t.hoisted, call: id}
	if x.traits.ToolImagesInline {
		to.images = &t.result
	}
	items := x.within(b.Content, at, "content")
	for item := items.next(); item != nil; item = items.next() {
		before := to.named
		if string(item.Type) == "tool_reference" {
			x.toolReference(item, &items.at)
		} else {
			x.piece(item, &items.at, &to)
		}
		if to.named && !before {
			elsewhere = imageElsewhere
			if string(item.Type) == "document" && !x.memory.HasImages {
				elsewhere = documentElsewhere
			}
		}
	}
	return elsewhere
}

// toolReference names a tool that a search for tools has found.
func (x *messagesChat) toolReference(b *messages.Block, at *place) {
	name := x.optional(b.ToolName, at, "tool_name")
	x.turn.result.add([]byte("[tool available: "), name, []byte("]"))
	x.cached(b, at)
}

const blame = "Error: "

// blame begins the content with a word that says it is an error, since no field
// can. A text that says so itself is left alone.
func (c *content) blame() {
	start := 0
	switch {
	case c.empty():
		c.add([]byte("Error:"))
		return
	case c.array && !bytes.HasPrefix(c.buf, []byte(partText)):
		c.insert(0, partText+`Error:"},`)
		return
	case c.array:
		start = len(partText)
	}
	said := c.buf[start:min(start+len("error:"), len(c.buf))]
	if !bytes.EqualFold(said, []byte("error:")) {
		c.insert(start, blame)
	}
}

// insert puts bytes into the first piece or in front of it.
func (c *content) insert(at int, what string) {
	c.buf = append(c.buf, what...)
	copy(c.buf[at+len(what):], c.buf[at:])
	copy(c.buf[at:], what)
	for i := range c.ends {
		c.ends[i] += len(what)
	}
}
