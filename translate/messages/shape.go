package messages

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// shape is what the deltas of a block have in common: all but one string. When
// all bytes around that are those of the delta before, and it is one valid
// string again, the delta says the same of another text: there is nothing else
// to read.
type shape struct {
	name   []byte // of the event
	before []byte // up to the text, which begins with its quote
	after  []byte // behind it
	event  translate.Event
	known  bool
}

// slot is where a string stands in the data at hand, quotes included. The zero
// slot is no place.
type slot struct{ start, end int }

// learn keeps the shape of a delta that gave only this event.
func (s *shape) learn(event sse.Event, at slot, e *translate.Event) {
	s.name = append(s.name[:0], event.Name...)
	s.before = append(s.before[:0], event.Data[:at.start]...)
	s.after = append(s.after[:0], event.Data[at.end:]...)
	s.event = *e
	s.event.Text = nil
	s.known = true
}

// text returns the text of an event that has the shape, as it is written; nil
// if it has not.
func (s *shape) text(c *jsonscan.Cursor, event sse.Event) []byte {
	if !s.known || !bytes.Equal(event.Name, s.name) {
		return nil
	}
	rest, ok := bytes.CutPrefix(event.Data, s.before)
	if !ok {
		return nil
	}
	*c = jsonscan.New(rest)
	raw, ok := c.RawString()
	if !ok || !bytes.Equal(rest[c.Offset():], s.after) {
		return nil
	}
	return raw
}

// repeats sends the event of a delta that has the shape of the one before. It
// reports false, and does nothing, if it has not, or if the text is empty.
func (p *Parser) repeats(event sse.Event) bool {
	raw := p.again.text(&p.cursor, event)
	if len(raw) <= len(`""`) {
		return false
	}
	p.sendText(p.again.event, raw)
	return true
}

// remember learns the shape of a delta that was read in full, if its one string
// is all that it said.
func (p *Parser) remember(event sse.Event) {
	if d := &p.read.delta; d.texts == 1 && p.sent == 1 {
		p.again.learn(event, d.at, &p.event)
	}
}
