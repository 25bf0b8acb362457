package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Emitter writes core events as an answer of the format: a stream of chunks
// (wire format D.10) or one JSON body, whichever the client wants. Reasoning
// and tool calls have no place in the format; a refusal is text.
type Emitter struct {
	openai.Emitter

	choices []choice
}

// choice is the state of a choice.
type choice struct {
	begun    bool   // the choice is part of the answer, and its echo is written
	newText  bool   // the next fragment begins a new text
	calls    bool   // the choice has tool calls
	reason   string // the finish_reason
	text     []byte // of a JSON answer
	logprobs legacy
}

// format describes the answers of the format.
var format = openai.Format{Answer: "text_completion", Chunk: "text_completion", Empty: `,"text":""`, Last: `,"text":"","logprobs":null`}

var errTools = errors.New("tool calls in answer to a completions request")

// NewEmitter returns an emitter of one answer to the request of the answer context.
func NewEmitter(context *translate.AnswerContext, ids translate.IDs) *Emitter {
	m := &Emitter{}
	m.Init(m, &format, context, ids)
	return m
}

// Write writes an event that belongs to a choice, or begins the answer. The format has no
// service tier.
func (m *Emitter) Write(e *event.Event) {
	switch e.Kind {
	case event.Start:
		m.Start(e)
	case event.Text:
		if c := m.begin(e.Choice); c.newText {
			c.newText = false
			m.write(e.Choice, openai.Separator)
		}
		m.write(e.Choice, e.Text)
	case event.TextEnd:
		c := m.choice(e.Choice)
		c.newText = c.begun
	case event.Reasoning, event.Signature, event.Redacted:
		m.Drop("reasoning")
	case event.ToolStart:
		m.choice(e.Choice).calls = true
		m.DropContent("tool_calls")
	case event.Source:
		m.Drop("content.*.citations")
	case event.Logprobs:
		m.logprobs(e)
	case event.Finish:
		m.finish(e)
	}
}

// choice returns a choice by its index.
func (m *Emitter) choice(index int) *choice {
	for len(m.choices) <= index {
		m.choices = append(m.choices, choice{reason: FinishReason(event.FinishUnknown, false)})
	}
	return &m.choices[index]
}

// begin begins a choice, once: with the prompt, if the client wants its echo.
func (m *Emitter) begin(index int) *choice {
	c := m.choice(index)
	if c.begun {
		return c
	}
	m.Start(&event.Event{})
	c.begun = true
	asked := m.Context.Of(index)
	c.logprobs.offset = asked.Input.Length
	if len(asked.Input.Echo) > 0 {
		m.write(index, asked.Input.Echo)
	}
	return c
}

// write writes text that is not empty.
func (m *Emitter) write(index int, text []byte) {
	if !m.Context.Stream {
		c := &m.choices[index]
		c.text = append(c.text, text...)
		return
	}
	m.chunk(index, text, "")
}

// finish records the reason why a choice ended.
func (m *Emitter) finish(e *event.Event) {
	reason := FinishReason(e.Finish, m.choice(e.Choice).calls)
	if reason == "" {
		m.Fail(errTools)
		return
	}
	m.begin(e.Choice).reason = reason
	if len(e.Text) > 0 {
		m.Drop("stop_details.explanation")
	}
}

// Close begins choice 0, which every answer has, even without content.
func (m *Emitter) Close() int {
	m.begin(0)
	return len(m.choices)
}

// chunk writes a chunk with text of one choice; finish is "" if the choice goes on.
func (m *Emitter) chunk(index int, text []byte, finish string) {
	m.Begin(index)
	m.Written = jsonscan.AppendEscaped(append(m.Written, `"text":"`...), text)
	m.Written = jsonscan.AppendCount(m.Written, `","index":`, int64(index))
	m.End(finish)
}

// Finish writes the reason why a choice ended, in a JSON body with the whole choice.
func (m *Emitter) Finish(index int) bool {
	c := &m.choices[index]
	switch {
	case !c.begun:
		return false
	case m.Context.Stream:
		m.chunk(index, nil, c.reason)
		return true
	}
	m.Written = jsonscan.AppendString(append(m.Written, `{"text":`...), c.text)
	m.Written = jsonscan.AppendCount(m.Written, `,"index":`, int64(index))
	m.Written = c.logprobs.append(append(m.Written, `,"logprobs":`...), m.Context)
	m.Written = openai.AppendReason(m.Written, c.reason)
	return true
}

// logprobs writes the log probabilities of the preceding text. In a stream they belong
// to the chunk of the text, or to a chunk of their own if that one was already returned
// by Output.
func (m *Emitter) logprobs(e *event.Event) {
	if !m.Context.Logprobs.Asked {
		return
	}
	c := m.begin(e.Choice)
	if !m.Context.Stream {
		c.logprobs.add(e.Logprobs, m.Context)
		return
	}
	if !m.CanPatch(e.Choice) {
		m.chunk(e.Choice, nil, "")
	}
	lists := legacy{offset: c.logprobs.offset}
	lists.add(e.Logprobs, m.Context)
	c.logprobs.offset = lists.offset
	m.Patch(lists.append(nil, m.Context))
}

// FinishReason returns the finish_reason of completions answers for a reason, ""
// if the provider waits for the results of calls, which the format cannot express.
// A reason that announces calls means the end of the turn if there are none. The text
// of a refusal is plain text here, so only the reason distinguishes it from an answer.
func FinishReason(r event.FinishReason, calls bool) string {
	switch {
	case r == event.FinishTools && calls:
		return ""
	case r == event.FinishRefused:
		return "content_filter"
	}
	return openai.FinishReason(r, false)
}
