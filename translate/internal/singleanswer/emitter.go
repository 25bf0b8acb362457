package singleanswer

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Writer is the part of an emitter that depends on the format. It writes a stream or a JSON
// body into Written of its Emitter.
type Writer interface {
	// Start begins the answer.
	Start(*Beginning)
	// Write writes an event from Text to Logprobs, or a Native one, of the only choice. The
	// events between a ToolStart and its ToolEnd belong to that call.
	Write(*event.Event)
	// Finish ends the answer.
	Finish(*Ending)
}

// Beginning is what the beginning of an answer states. In place of a model and a
// time that the provider does not state are those of the IDs, and in place of an input the
// estimate of the answer context.
type Beginning struct {
	Model   []byte
	Created int64 // Unix seconds
	Usage   token.Usage
	Tier    event.Tier
}

// Ending is what the end of an answer states.
type Ending struct {
	Reason      event.FinishReason
	HasCalls    bool
	Stop        []byte // the stop sequence of the client that ended the turn, empty for none
	Explanation []byte // why the provider refused
	Usage       token.Usage
	Tier        event.Tier
	Reached     bool // no more events come
}

// Emitter is the part of an emitter that writes an answer of one turn. The emitters of the
// formats embed it, call Init, and implement Writer: Emitter calls its methods in the order of
// the answer, and none behind a fault. Events of choices other than 0 are dropped.
type Emitter struct {
	translate.Dropped
	Context *translate.AnswerContext // of the request
	IDs     translate.IDs
	Written []byte // the bytes written since the last call of Output
	Ending  Ending // as far as it is known

	turn  turn
	open  openItem
	fault *fault.Fault
}

// turn is how far the answer has come, and what writes it.
type turn struct {
	writer    Writer
	order     *event.Sequencer // of the events of the turn
	beginning Beginning
	started   bool
	ended     bool
}

// Init prepares the emitter of one answer to the request of the answer context.
func (m *Emitter) Init(w Writer, context *translate.AnswerContext, ids translate.IDs) {
	m.Context, m.IDs, m.turn.writer = context, ids, w
	m.turn.order = event.NewSequencer(context.Room(), func(e *event.Event) {
		if m.fault == nil {
			m.turn.writer.Write(e)
		}
	})
}

// Use makes the emitter write to memory, as far as that suffices.
func (m *Emitter) Use(memory []byte) { m.Written = memory[:0] }

// Output returns the bytes written since the last call. For a JSON answer it returns nothing
// before the end. The bytes are valid until the next event.
func (m *Emitter) Output() []byte {
	if !m.Context.Stream && !m.turn.ended {
		return nil
	}
	written := m.Written
	m.Written = m.Written[:0]
	return written
}

// Fault returns the reason why the events cannot be written, or nil.
func (m *Emitter) Fault() *fault.Fault { return m.fault }

// Fail ends the answer because it cannot be written.
func (m *Emitter) Fail(cause error) { m.fault = fault.Unusable(cause) }

// Handle writes the next core event. Errors are not written here.
func (m *Emitter) Handle(e *event.Event) {
	switch {
	case m.fault != nil || e.Kind == event.Error:
		return
	case e.Choice != 0:
		m.Drop("choices[*]")
		return
	}
	switch e.Kind {
	case event.Start:
		m.start(e)
	case event.Finish:
		m.Ending.Reason = e.Finish
		m.Ending.Stop = append(m.Ending.Stop[:0], e.Stop...)
		m.Ending.Explanation = append(m.Ending.Explanation[:0], e.Text...)
	case event.Usage:
		m.Ending.Usage = *e.Usage
		if e.Tier != event.TierUnknown {
			m.Ending.Tier = e.Tier
		}
	case event.End:
		m.end()
	default:
		m.Ending.HasCalls = m.Ending.HasCalls || e.Kind == event.ToolStart
		if e.Kind != event.Native {
			m.start(nil)
		}
		m.turn.order.Handle(e)
		if m.fault == nil {
			m.fault = m.turn.order.Fault()
		}
	}
}

// start has the writer begin the answer, once, with the event Start or nil.
func (m *Emitter) start(e *event.Event) {
	t := &m.turn
	if t.started {
		return
	}
	t.started = true
	begin := &t.beginning
	if e != nil {
		*begin = Beginning{Model: e.Model, Created: e.Created, Tier: e.Tier}
		if e.Usage != nil {
			begin.Usage = *e.Usage
		}
	}
	if len(begin.Model) == 0 {
		begin.Model = []byte(m.IDs.Model)
	}
	if begin.Created == 0 {
		begin.Created = m.IDs.Created
	}
	if begin.Usage.Input() == 0 {
		begin.Usage.Fresh = m.Context.Input.Estimate
	}
	m.Ending.Tier = begin.Tier
	t.writer.Start(begin)
	begin.Model = nil // which belongs to the event
}

// end ends the answer.
func (m *Emitter) end() {
	m.start(nil)
	m.Ending.Reached = true
	m.turn.order.Flush()
	if m.fault != nil { // the last of the waiting events cannot be written
		return
	}
	if !slices.Contains(m.Context.Cuts.Stops, string(m.Ending.Stop)) {
		m.Ending.Stop = nil
	}
	m.turn.writer.Finish(&m.Ending)
	m.turn.ended = true
}
