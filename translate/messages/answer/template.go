package answer

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// template is the shape of a delta that became one event with a text. Most deltas of a
// block differ from the one before only in that text. A delta of the same shape becomes
// the same event with another text.
type template struct {
	name  []byte // of the event
	data  jsonscan.Template
	event event.Event
}

// learn keeps the shape of a delta that became only this event.
func (s *template) learn(event sse.Event, at jsonscan.Slot, e *event.Event) {
	s.name = append(s.name[:0], event.Name...)
	s.data.Learn(event.Data, [jsonscan.MaxHoles]jsonscan.Slot{at})
	s.event = *e
	s.event.Text = nil
}

// repeats sends the event of a delta that has the shape of the one before. It reports
// false, and does nothing, if the shape is another, or if the text is empty.
func (p *Parser) repeats(event sse.Event) bool {
	if !bytes.Equal(event.Name, p.template.name) {
		return false
	}
	values, ok := p.template.data.Match(event.Data)
	if !ok || len(values[0]) <= len(`""`) {
		return false
	}
	p.sendText(p.template.event, values[0])
	return true
}

// remember keeps the shape of the current delta if it has exactly one string and became
// exactly one event.
func (p *Parser) remember(event sse.Event) {
	if d := &p.read.delta; d.texts == 1 && p.sent == 1 {
		p.template.learn(event, d.at, &p.event)
	}
}
