package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Emitter writes core events as an answer of the format: a stream of chunks
// (wire format D.9) or one JSON body, whichever the client wants. The same code writes
// both, so that their content is the same.
type Emitter struct {
	openai.Emitter

	choices []choice
}

// choice is the state of a choice.
type choice struct {
	begun   bool // the choice is part of the answer, and its role is written
	newText bool // the next fragment begins a new text
	ending

	text, refusal, reasoning texts
	thinking                 thinking

	calls []toolCall // by ordinal
	ids   toolcall.IDs

	sources  sources
	logprobs []byte // of a JSON answer, each with a comma before it
	images   images
}

// ending is how a choice has ended.
type ending struct {
	reason      event.FinishReason
	explanation []byte // why the provider refused
}

// texts is a member of the message that is a string. all are its fragments in a JSON answer,
// escaped.
type texts struct {
	name string // with its quotes, a colon and the quote of the string
	has  bool
	all  []byte
}

// format describes the answers of the format.
var format = openai.Format{
	Answer: "chat.completion", Chunk: "chat.completion.chunk", Tiers: openai.Tiers, Deltas: true,
	Empty: `,"delta":{"role":"assistant"}`, Last: `,"delta":{}`,
}

// maxThinking bounds the reasoning that is kept until its signature arrives, in bytes.
const maxThinking = sse.DefaultMaxEvent

// NewEmitter returns an emitter of one answer to the request of the answer context.
func NewEmitter(context *translate.AnswerContext, ids translate.IDs) *Emitter {
	m := &Emitter{}
	m.Init(m, &format, context, ids)
	return m
}

// Write writes an event that belongs to a choice, or begins the answer.
func (m *Emitter) Write(e *event.Event) {
	if e.Kind == event.Start {
		m.Start(e)
	}
	c := m.begin(e.Choice)
	switch e.Kind {
	case event.Text:
		m.text(c, e)
	case event.TextEnd:
		c.newText = true
	case event.Source:
		c.sources.add(e.Source)
	case event.Reasoning:
		m.reasoning(c, e)
	case event.Signature:
		m.signature(c, e)
	case event.Redacted:
		m.block(c, e.Choice, []byte(`{"type":"redacted_thinking","data":`), e.Text)
	case event.ReasoningEnd:
		c.thinking.end()
	case event.ToolStart:
		m.startTool(c, e)
	case event.ToolArgs:
		m.addArguments(c, e)
	case event.Logprobs:
		m.addLogprobs(c, e)
	case event.Inline:
		m.image(c, e)
	case event.Finish:
		c.reason = e.Finish
		c.explanation = append(c.explanation[:0], e.Text...)
	}
}

// begin returns a choice by its index, and begins it, once, with its role.
func (m *Emitter) begin(index int) *choice {
	for len(m.choices) <= index {
		m.choices = append(m.choices, choice{
			text: texts{name: `"content":"`}, refusal: texts{name: `"refusal":"`}, reasoning: texts{name: `"reasoning_content":"`},
		})
	}
	c := &m.choices[index]
	if c.begun {
		return c
	}
	c.begun = true
	m.Start(&event.Event{})
	if m.Context.Stream {
		m.open(index)
		m.Written = append(m.Written, `"role":"assistant","content":""`...)
		m.close("")
	}
	return c
}

// text writes a fragment of text, or of the text of a refusal.
func (m *Emitter) text(c *choice, e *event.Event) {
	dst := &c.text
	if e.Refusal {
		dst = &c.refusal
	}
	if c.newText && dst.has {
		m.fragment(e.Choice, dst, openai.Separator)
		c.sources.inserted += len(openai.Separator)
	}
	c.newText = false
	m.fragment(e.Choice, dst, e.Text)
}

// fragment writes a fragment of a member that is a string: as a chunk of a stream, or
// behind the earlier fragments of a JSON answer.
func (m *Emitter) fragment(choice int, dst *texts, fragment []byte) {
	dst.has = true
	if !m.Context.Stream {
		dst.all = jsonscan.AppendEscaped(dst.all, fragment)
		return
	}
	m.open(choice)
	m.Written = jsonscan.AppendEscaped(append(m.Written, dst.name...), fragment)
	m.Written = append(m.Written, '"')
	m.close("")
}

// Close begins choice 0, which every answer has, even without content.
func (m *Emitter) Close() int {
	m.begin(0)
	for i := range m.choices {
		if c := &m.choices[i]; len(c.explanation) > 0 && !c.showsExplanation() {
			m.Drop("stop_details.explanation")
		}
	}
	return len(m.choices)
}
