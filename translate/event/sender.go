package event

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Sender sends the core events of one answer to a Handler, for the parsers, which have one.
// Nothing is sent behind an End or an Error.
type Sender struct {
	handler Handler
	event   Event         // the one sent last: a field, so that an event costs no allocation
	text    []byte        // memory of texts with escapes
	learned *repeated     // nil before a delta was learned
	sent    int           // since Begin
	slot    jsonscan.Slot // of the text sent last
	ended   bool
}

// repeated recognises the deltas that become the same event with another text.
type repeated struct {
	sse.Template
	event Event // without its text
}

// NewSender returns a Sender of one answer.
func NewSender(h Handler) Sender { return Sender{handler: h} }

// Over reports whether an End or an Error was sent.
func (s *Sender) Over() bool { return s.ended }

// Send sends an event.
func (s *Sender) Send(e Event) {
	s.event = e
	s.send()
}

// send sends the event that was set last.
func (s *Sender) send() {
	if s.ended {
		return
	}
	s.sent++
	s.ended = s.event.Kind == End || s.event.Kind == Error
	s.handler.Handle(&s.event)
}

// SendAt is Send for an event with a text. slot is the position of the text in the delta, or
// the zero Slot if later deltas of the same shape may mean something else.
func (s *Sender) SendAt(e Event, slot jsonscan.Slot) {
	s.slot, s.event = slot, e
	s.send()
}

// SendText is SendAt with a text that is the raw string, unless that is empty or nil. It
// returns the text, nil for none, which is valid until the next call.
func (s *Sender) SendText(e Event, raw []byte, slot jsonscan.Slot) (text []byte) {
	if len(raw) <= len(`""`) {
		return nil
	}
	s.event = e
	return s.sendString(raw, slot)
}

// sendString sends the event that was set last with a raw string, and returns its text.
func (s *Sender) sendString(raw []byte, slot jsonscan.Slot) (text []byte) {
	text = jsonscan.Inner(raw)
	if jsonscan.HasEscapes(text) {
		s.text = jsonscan.AppendText(s.text[:0], raw)
		text = s.text
	}
	s.slot, s.event.Text, s.event.Raw = slot, text, raw
	s.send()
	return text
}

// Fail ends the answer with a fault.
func (s *Sender) Fail(f *fault.Fault) { s.Send(Event{Kind: Error, Fault: f}) }

// Refuse ends the answer because it violates the format. A nil error has no effect.
func (s *Sender) Refuse(err error) {
	if err != nil {
		s.Fail(fault.Unusable(err))
	}
}

// Resume makes the Sender send again behind an Error, for a reader that skips what it cannot
// read.
func (s *Sender) Resume() { s.ended = false }

// Begin begins a delta, which is read because Repeat has not recognised it.
func (s *Sender) Begin() {
	if s.learned != nil {
		s.learned.Forget()
	}
	s.sent = 0
	s.Differ()
}

// Differ reports that the current delta means more than the text that was sent: it is not
// learned.
func (s *Sender) Differ() { s.slot = jsonscan.Slot{} }

// Learn ends a delta. Later deltas of its shape are recognised if it became one event with a
// text. others are the positions of values that may differ too; zero Slots are ignored.
func (s *Sender) Learn(delta sse.Event, others ...jsonscan.Slot) {
	if s.sent != 1 || s.ended {
		return
	}
	if s.learned == nil {
		s.learned = new(repeated)
	}
	s.learned.Learn(delta, s.slot, others...)
	s.learned.event = s.event
	s.learned.event.Text, s.learned.event.Raw = nil, nil
}

// Repeat sends the event of a delta with that name and data that has the shape of the one
// learned last, and returns the event; nil for any other delta, with nothing sent.
func (s *Sender) Repeat(name, data []byte) *Event {
	if raw, _, ok := s.Match(name, data); ok {
		return s.SendAgain(raw)
	}
	return nil
}

// Match is sse.Template.Match for the delta learned last, with the text raw.
func (s *Sender) Match(name, data []byte) (text, third []byte, ok bool) {
	if s.learned == nil {
		return nil, nil, false
	}
	value, third, ok := s.learned.Match(name, data)
	return value.Raw, third, ok
}

// SendAgain sends the event of the delta learned last with another raw text.
func (s *Sender) SendAgain(raw []byte) *Event {
	s.event = s.learned.event
	s.sendString(raw, jsonscan.Slot{})
	return &s.event
}
