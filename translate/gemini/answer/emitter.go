package answer

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Emitter writes core events as an answer of the format. Each choice is a candidate, which has
// a writer of its own.
type Emitter struct {
	context    *translate.AnswerContext
	ids        translate.IDs
	candidates []*writer // at least one
	calls      toolcall.IDs
	start      event.Event // for candidates that begin later, as the usage
	usage      token.Usage
	moved      event.Event // memory for events of later candidates
	written    []byte
	ended      bool // the answer is complete, and was not returned yet
}

// NewEmitter returns an emitter of one answer to the request of the answer context.
func NewEmitter(context *translate.AnswerContext, ids translate.IDs) *Emitter {
	m := &Emitter{context: context, ids: ids}
	m.candidates = []*writer{newWriter(0, context, ids, &m.calls)}
	return m
}

// Handle writes the next core event.
func (m *Emitter) Handle(e *event.Event) {
	switch e.Kind {
	case event.Start:
		m.start = event.Event{Kind: event.Start, Model: bytes.Clone(e.Model), Created: e.Created, Tier: e.Tier}
	case event.Usage:
		m.usage = *e.Usage
	case event.End:
		m.ended = true
	case event.Error:
	default:
		m.writerOf(e.Choice).Handle(m.alone(e))
		return
	}
	for _, w := range m.candidates {
		w.Handle(e)
	}
}

// writerOf returns the writer of a choice, after the candidates up to it have begun.
func (m *Emitter) writerOf(choice int) *writer {
	for len(m.candidates) <= choice {
		w := newWriter(len(m.candidates), m.context, m.ids, &m.calls)
		w.Handle(&m.start)
		w.Handle(&event.Event{Kind: event.Usage, Usage: &m.usage})
		m.candidates = append(m.candidates, w)
	}
	return m.candidates[choice]
}

// alone returns an event as that of the only choice of its writer.
func (m *Emitter) alone(e *event.Event) *event.Event {
	if e.Choice == 0 {
		return e
	}
	m.moved = *e
	m.moved.Choice = 0
	return &m.moved
}

// Use makes the emitter write to memory, as far as that suffices.
func (m *Emitter) Use(memory []byte) { m.written = memory[:0] }

// Output returns the bytes written since the last call. For a JSON answer it returns nothing
// before the end. The bytes are valid until the next event.
func (m *Emitter) Output() []byte {
	if m.context.Stream && len(m.candidates) == 1 {
		return m.candidates[0].Output()
	}
	m.written = m.written[:0]
	switch {
	case m.context.Stream:
		for _, w := range m.candidates {
			m.written = append(m.written, w.Output()...)
		}
	case m.ended && m.Fault() == nil:
		m.ended = false
		m.writeBody()
	}
	return m.written
}

// writeBody writes a JSON answer.
func (m *Emitter) writeBody() {
	m.written = append(m.written, `{"candidates":[`...)
	for i, w := range m.candidates {
		if i > 0 {
			m.written = append(m.written, ',')
		}
		m.written = append(m.written, w.Output()...)
	}
	m.written = append(appendUsage(append(m.written, ']'), m.usage, m.candidates[0].Ending.Tier), m.candidates[0].frame.names...)
}

// Fault returns the reason why the events cannot be written, or nil.
func (m *Emitter) Fault() *fault.Fault {
	for _, w := range m.candidates {
		if f := w.Fault(); f != nil {
			return f
		}
	}
	return nil
}

// Losses returns what of the events the format has no place for.
func (m *Emitter) Losses() (losses translate.Losses) {
	for _, w := range m.candidates {
		losses.AddAll(w.Losses())
	}
	return losses
}
