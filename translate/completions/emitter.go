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
	choices.Emitter

	choices []choice
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

var errTools = errors.New("tool calls in answer to a completions request")

// NewEmitter returns an emitter of one answer to the request that the memory is
// of.
func NewEmitter(m *translate.Memory, ids translate.IDs) *Emitter {
	return &Emitter{Emitter: choices.Emitter{Memory: m, IDs: ids}}
}

// Handle writes the next core event. Errors are not written here.
func (m *Emitter) Handle(e *translate.Event) {
	if m.Fault() != nil {
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
		m.Usage = *e.Usage
	case translate.EventEnd:
		m.end()
	}
}

// start keeps what every chunk says, once. The format has no service tier.
func (m *Emitter) start(e *translate.Event) { m.Start("text_completion", e, "") }

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
	asked := m.Memory.Of(index)
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
		m.write(e.Choice, choices.Between)
	}
	m.write(e.Choice, e.Text)
}

// write writes text that is not empty.
func (m *Emitter) write(index int, text []byte) {
	if !m.Memory.Stream {
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
		m.Fail(errTools)
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
	if m.Memory.Stream {
		m.endStream()
		return
	}
	m.WriteBody(len(m.choices), m.writeChoice)
}
