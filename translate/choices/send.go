package choices

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// SlotText reads the string at the cursor and says where it stands. A value of
// another kind is skipped and reads as nil.
func SlotText(c *jsonscan.Cursor) (raw []byte, at jsonscan.Slot) {
	start := c.Offset()
	if raw = c.StringOrSkip(); raw == nil {
		return nil, jsonscan.Slot{}
	}
	return raw, jsonscan.Slot{Start: start, End: c.Offset()}
}

// Said is SlotText for a string that is to be told: a value of another kind is
// dropped from the object that prefix is the path of.
func (p *Parser) Said(c *jsonscan.Cursor, prefix string) (raw []byte, at jsonscan.Slot) {
	if c.Kind() != jsonscan.String {
		p.DropMember(prefix, c)
		return nil, jsonscan.Slot{}
	}
	return SlotText(c)
}

// Send tells the handler the event at hand.
func (p *Parser) Send() {
	if p.over {
		return
	}
	p.sent++
	p.handler.Handle(&p.event)
}

// SendEvent tells the handler an event.
func (p *Parser) SendEvent(e event.Event) {
	p.event = e
	p.Send()
}

// SendAt tells the handler an event that has a text. Where its string stands in
// a chunk, if anywhere, is where later chunks of the same shape have theirs.
func (p *Parser) SendAt(e event.Event, at jsonscan.Slot) {
	p.again.slot = at
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

// Unlike says that the chunk at hand says more than its event, so that none says
// the same of another text.
func (p *Parser) Unlike() { p.again.slot = jsonscan.Slot{} }

// Refused notes that a choice has refused.
func (p *Parser) Refused(index int) { p.choices[index].refused = true }
