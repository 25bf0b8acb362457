package completions

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
)

// Emitter writes core events as an answer of the format: a stream of chunks
// (wire format D.10) or one JSON body, whichever the client wants. Reasoning
// and tool calls have no place in the format; a refusal is text.
type Emitter struct {
	translate.Dropped

	memory *translate.Memory
	ids    translate.IDs
	out    []byte
	fault  *translate.Fault

	head    []byte // how every chunk, and the body, begins
	started bool
	whole   bool // the JSON body is complete
	usage   translate.Usage
	choices []choice
	patch   patch
}

// choice is what is known of a choice.
type choice struct {
	begun    bool   // it is a choice of the answer, and its echo was written
	parted   bool   // its next text is another one
	calls    bool   // it has tool calls
	reason   string // why it ended
	text     []byte // of a JSON answer
	logprobs legacy
}

// patch is where the logprobs of the text chunk that was written last can still
// be put: they are told behind their text.
type patch struct{ choice, at, size int }

var errTools = errors.New("tool calls in answer to a completions request")

// NewEmitter returns an emitter of one answer to the request that the memory is
// of.
func NewEmitter(m *translate.Memory, ids translate.IDs) *Emitter {
	return &Emitter{memory: m, ids: ids}
}

// Fault says why the events cannot be written, nil while they can.
func (m *Emitter) Fault() *translate.Fault { return m.fault }

// Output returns what was written since it was called last: of a JSON answer
// nothing before its end. It is valid until the next event.
func (m *Emitter) Output() []byte {
	m.patch = patch{}
	if !m.memory.Stream && !m.whole {
		return nil
	}
	out := m.out
	m.out = m.out[:0]
	return out
}

// Handle writes the next core event. Errors are not written here.
func (m *Emitter) Handle(e *translate.Event) {
	if m.fault != nil {
		return
	}
	switch e.Kind {
	case translate.EventStart:
		m.start(e)
	case translate.EventText:
		m.text(e)
	case translate.EventTextEnd:
		c := m.choice(e.Choice)
		c.parted = c.begun
	case translate.EventReasoning, translate.EventSignature, translate.EventRedacted:
		m.Drop("reasoning")
	case translate.EventToolStart:
		m.choice(e.Choice).calls = true
		m.Drop("tool_calls")
	case translate.EventSource:
		m.Drop("content.*.citations")
	case translate.EventLogprobs:
		m.logprobs(e)
	case translate.EventFinish:
		m.finish(e)
	case translate.EventUsage:
		m.usage = *e.Usage
	case translate.EventEnd:
		m.end()
	}
}

// start notes what every chunk says, once.
func (m *Emitter) start(e *translate.Event) {
	if m.started {
		return
	}
	m.started = true
	m.head = choices.AppendHead(m.head, "text_completion", e, &m.ids)
	m.head = append(m.head, `,"choices":[`...)
}

// choice returns a choice by its index.
func (m *Emitter) choice(index int) *choice {
	for len(m.choices) <= index {
		m.choices = append(m.choices, choice{reason: translate.FinishUnknown.Completions(false)})
	}
	return &m.choices[index]
}

// begin begins a choice, once: with the prompt, if the client wants its echo.
func (m *Emitter) begin(index int) *choice {
	c := m.choice(index)
	if c.begun {
		return c
	}
	m.start(&translate.Event{})
	c.begun = true
	asked := m.memory.Of(index)
	c.logprobs.offset = asked.PromptLength
	if len(asked.Echo) > 0 {
		m.write(index, asked.Echo)
	}
	return c
}

// text writes a fragment of text.
func (m *Emitter) text(e *translate.Event) {
	if c := m.begin(e.Choice); c.parted {
		c.parted = false
		m.write(e.Choice, between)
	}
	m.write(e.Choice, e.Text)
}

// between stands between two texts of a choice, which has only one.
var between = []byte("\n\n")

// write writes text that is not empty.
func (m *Emitter) write(index int, text []byte) {
	if !m.memory.Stream {
		c := &m.choices[index]
		c.text = append(c.text, text...)
		return
	}
	m.chunk(index, text, "")
}

// finish notes why a choice ended.
func (m *Emitter) finish(e *translate.Event) {
	reason := e.Finish.Completions(m.choice(e.Choice).calls)
	if reason == "" {
		m.fault = translate.Unusable(errTools)
		return
	}
	m.begin(e.Choice).reason = reason
	if len(e.Text) > 0 {
		m.Drop("stop_details.explanation")
	}
}

// end writes the end. There is always a choice 0, even one that said nothing.
func (m *Emitter) end() {
	m.begin(0)
	if m.memory.Stream {
		m.endStream()
		return
	}
	m.answer()
	m.whole = true
}
