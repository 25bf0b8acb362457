package openai

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// StringWithSlot consumes the value at the cursor. It returns a string raw and with its
// position, and nil for a value of another kind.
func StringWithSlot(c *jsonscan.Cursor) (raw []byte, at jsonscan.Slot) {
	start := c.Offset()
	if raw = c.StringOrSkip(); raw == nil {
		return nil, jsonscan.Slot{}
	}
	return raw, jsonscan.Slot{Start: start, End: c.Offset()}
}

// StringOrDrop is StringWithSlot for a string that becomes an event. A value of another kind is
// reported as dropped; prefix is the path of its object, with a dot behind.
func (p *Parser) StringOrDrop(c *jsonscan.Cursor, prefix string) (raw []byte, at jsonscan.Slot) {
	if c.Kind() != jsonscan.String {
		p.DropMember(prefix, c)
		return nil, jsonscan.Slot{}
	}
	return StringWithSlot(c)
}

// Send sends the current event to the handler, unless the answer is over.
func (p *Parser) Send() {
	if p.over {
		return
	}
	p.sent++
	p.handler.Handle(&p.event)
}

// SendEvent sends an event to the handler.
func (p *Parser) SendEvent(e event.Event) {
	p.event = e
	p.Send()
}

// SendAt sends an event that has a text to the handler. at is the position of the text
// in the chunk, or the zero Slot; later chunks of the same shape have theirs there.
func (p *Parser) SendAt(e event.Event, at jsonscan.Slot) {
	p.template.slot = at
	p.SendEvent(e)
}

// SendText is SendAt with a text that is the raw string, unless that is empty.
func (p *Parser) SendText(e event.Event, raw []byte, at jsonscan.Slot) {
	if len(raw) <= len(`""`) {
		return
	}
	p.text = jsonscan.AppendText(p.text[:0], raw)
	e.Text = p.text
	p.SendAt(e, at)
}

// DiscardTemplate keeps the current chunk from becoming the template: later chunks
// differ from it in more than the text.
func (p *Parser) DiscardTemplate() { p.template.slot = jsonscan.Slot{} }

// MarkRefused records that the model refuses to answer in a choice.
func (p *Parser) MarkRefused(index int) { p.choices[index].refused = true }
