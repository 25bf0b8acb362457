package answer

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// shape is what the deltas of a block have in common: all but one string. A delta
// of the same shape says the same of another text.
type shape struct {
	name  []byte // of the event
	data  jsonscan.Template
	event event.Event
}

// learn keeps the shape of a delta that gave only this event.
func (s *shape) learn(event sse.Event, at jsonscan.Slot, e *event.Event) {
	s.name = append(s.name[:0], event.Name...)
	s.data.Learn(event.Data, [jsonscan.MaxHoles]jsonscan.Slot{at})
	s.event = *e
	s.event.Text = nil
}

// repeats sends the event of a delta that has the shape of the one before. It
// reports false, and does nothing, if it has not, or if the text is empty.
func (p *Parser) repeats(event sse.Event) bool {
	if !bytes.Equal(event.Name, p.again.name) {
		return false
	}
	values, ok := p.again.data.Match(event.Data)
	if !ok || len(values[0]) <= len(`""`) {
		return false
	}
	p.sendText(p.again.event, values[0])
	return true
}

// remember learns the shape of a delta that was read in full, if its one string
// is all that it said.
func (p *Parser) remember(event sse.Event) {
	if d := &p.read.delta; d.texts == 1 && p.sent == 1 {
		p.again.learn(event, d.at, &p.event)
	}
}
