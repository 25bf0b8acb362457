package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/toolcall"
)

// Emitter writes core events as an answer of the format: a stream of chunks
// (wire format D.9) or one JSON body, whichever the client wants. The same code writes
// both, so that their content is the same.
type Emitter struct {
	choices.Emitter

	choices []saying
}

// saying is the state of a choice. Texts are kept escaped.
type saying struct {
	begun       bool // the choice is part of the answer, and its role is written
	parted      bool // the next text is a new one
	said        bool // the choice has text
	refused     bool // the choice has the text of a refusal
	reason      event.FinishReason
	explanation []byte // why the provider refused

	thoughtful bool   // it has reasoning
	apart      bool   // its next reasoning is of another block
	part       int    // of its last reasoning
	thought    []byte // the block of reasoning at hand

	calls []toolCall // by ordinal
	ids   toolcall.IDs

	annotations []byte // each with a comma before it
	inserted    int    // characters that stand between its texts

	// Of a JSON answer.
	text, refusal, reasoning []byte
	blocks                   []byte // of thinking, each with a comma before it
	logprobs                 []byte // the same
}

// maxThought bounds the reasoning that is kept until its signature comes, in bytes.
const maxThought = sse.DefaultMaxEvent

// NewEmitter returns an emitter of one answer to the request of the answer context.
func NewEmitter(m *translate.AnswerContext, ids translate.IDs) *Emitter {
	return &Emitter{Emitter: choices.Emitter{Context: m, IDs: ids}}
}

// Handle writes the next core event. Errors are not written here.
func (m *Emitter) Handle(e *event.Event) {
	if m.Fault() != nil {
		return
	}
	switch e.Kind {
	case event.Start:
		m.start(e)
		m.begin(0)
	case event.Usage:
		m.Usage = *e.Usage
	case event.End:
		m.end()
	case event.Error:
	default:
		m.content(e)
	}
}

// content writes an event that belongs to a choice.
func (m *Emitter) content(e *event.Event) {
	c := m.begin(e.Choice)
	switch e.Kind {
	case event.Text:
		m.text(c, e)
	case event.TextEnd:
		c.parted = true
	case event.Source:
		c.annotate(e.Source)
	case event.Reasoning:
		m.reasoning(c, e)
	case event.Signature:
		m.signature(c, e)
	case event.Redacted:
		m.redacted(c, e)
	case event.ReasoningEnd:
		c.endThought()
	case event.ToolStart:
		m.startTool(c, e)
	case event.ToolArgs:
		m.addArguments(c, e)
	case event.Logprobs:
		m.addLogprobs(c, e)
	case event.Finish:
		c.reason = e.Finish
		c.explanation = append(c.explanation[:0], e.Text...)
	}
}

// start keeps the members of every chunk. Only the first call has an effect.
func (m *Emitter) start(e *event.Event) {
	object := "chat.completion"
	if m.Context.Stream {
		object = "chat.completion.chunk"
	}
	m.Start(object, e, choices.TierWord(e.Tier))
}

// begin returns a choice by its index, and begins it, once, with its role.
func (m *Emitter) begin(index int) *saying {
	for len(m.choices) <= index {
		m.choices = append(m.choices, saying{})
	}
	c := &m.choices[index]
	if c.begun {
		return c
	}
	c.begun = true
	m.start(&event.Event{})
	if m.Context.Stream {
		m.open(index)
		m.Out = append(m.Out, `"role":"assistant","content":""`...)
		m.close("")
	}
	return c
}

// text writes a fragment of text, or of that of a refusal.
func (m *Emitter) text(c *saying, e *event.Event) {
	member, all, again := `"content":"`, &c.text, &c.said
	if e.Refusal {
		member, all, again = `"refusal":"`, &c.refusal, &c.refused
	}
	if c.parted && *again {
		m.fragment(e.Choice, member, all, choices.Between)
		c.inserted += len(choices.Between)
	}
	c.parted, *again = false, true
	m.fragment(e.Choice, member, all, e.Text)
}

// fragment writes a fragment of a member that is a string: into a chunk of its
// own, or to the others that it has in a JSON answer.
func (m *Emitter) fragment(choice int, member string, all *[]byte, fragment []byte) {
	if !m.Context.Stream {
		*all = jsonscan.AppendEscaped(*all, fragment)
		return
	}
	m.open(choice)
	m.Out = append(m.Out, member...)
	m.Out = jsonscan.AppendEscaped(m.Out, fragment)
	m.Out = append(m.Out, '"')
	m.close("")
}

// end writes the end. There is always a choice 0, even without content.
func (m *Emitter) end() {
	m.begin(0)
	for i := range m.choices {
		if c := &m.choices[i]; len(c.explanation) > 0 && !c.explained() {
			m.Drop("stop_details.explanation")
		}
	}
	if m.Context.Stream {
		m.endStream()
		return
	}
	m.WriteBody(len(m.choices), m.writeChoice)
}
