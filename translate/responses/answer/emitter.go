package answer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Emitter writes core events as an answer of the format: a stream of events or one
// JSON body, whichever the client wants. The last event of a stream contains the whole
// answer, so the same code writes both.
//
// At most one item is open at any time, so that the indexes of items are their positions in
// the output.
type Emitter struct {
	singleanswer.Emitter
	begun   bool // the beginning was written
	frame   frame
	items   itemWriter
	call    openCall
	thought thought
	calls   toolcall.IDs
}

// NewEmitter returns an emitter of one answer to the request of the answer context.
func NewEmitter(context *translate.AnswerContext, ids translate.IDs) *Emitter {
	_, random, _ := strings.Cut(ids.Message, "_")
	m := &Emitter{items: itemWriter{stem: random[:min(len(random), 20)]}}
	m.items.events = eventWriter{Emitter: &m.Emitter}
	m.Init(m, context, ids)
	return m
}

// Output returns the bytes written since the last call. For a JSON answer it returns
// nothing before the end. The bytes are valid until the next event.
func (m *Emitter) Output() []byte {
	m.items.events.scores = 0 // what was returned cannot be changed
	return m.Emitter.Output()
}

// maxAnswer bounds an answer, which the last event of a stream contains whole, in bytes.
const maxAnswer = 32 << 20

var errLongAnswer = fmt.Errorf("an answer of more than %d bytes", maxAnswer)

// check ends the answer if it is too large.
func (m *Emitter) check() {
	native := m.items.native
	if m.items.size()+m.thought.size()+len(m.call.held) > maxAnswer {
		m.Fail(errLongAnswer)
	} else if native != nil && len(m.Written) > native.room {
		m.Fail(errTooLarge)
	}
}

// Start keeps what the beginning states.
func (m *Emitter) Start(begin *singleanswer.Beginning) {
	m.frame = frame{m.IDs.Message, string(begin.Model), begin.Created, m.Context.Settings}
}

// begin writes the beginning, once, before the first content. What the client already has
// of the stream is not repeated.
func (m *Emitter) begin() {
	if m.begun {
		return
	}
	m.begun = true
	if !m.Context.Stream {
		return
	}
	if m.IDs.Begun != nil {
		m.items.events.sequence = m.IDs.Begun()
	}
	if m.items.events.sequence > 0 {
		m.frame.created = m.IDs.Created
		return
	}
	m.lifecycle("response.created", &ending{status: inProgress})
	m.lifecycle("response.in_progress", &ending{status: inProgress})
}

// lifecycle writes an event about the whole response.
func (m *Emitter) lifecycle(name string, e *ending) {
	events := &m.items.events
	switch native := m.items.native; {
	case native == nil:
		m.Written = m.frame.appendEvent(m.Written, name, events.next(), e)
	case e.status == inProgress:
		events.write(name, nil, "response", native.begun)
	default:
		events.write(name, nil, "response", native.whole)
	}
}

// endOf contains the shapes of items that events end.
var endOf = [...]*itemShape{event.TextEnd: &messageShape, event.ReasoningEnd: &reasoningShape}

// Write writes an event that belongs to an item. The first Native one is the response.
func (m *Emitter) Write(e *event.Event) {
	native := m.items.native
	if e.Kind == event.Native && native == nil {
		m.items.native = readNative(e.Text)
		return
	}
	m.begin()
	if native == nil || !native.has(e) {
		m.write(e)
		m.check()
	}
}

func (m *Emitter) write(e *event.Event) {
	switch e.Kind {
	case event.Native:
		m.close(completed)
		m.items.endNative()
		if err := m.items.native.next(e.Text); err != nil {
			m.Fail(err)
		}
	case event.Text:
		kind := &outputText
		if e.Refusal {
			kind = &refusalText
		}
		m.enter(&messageShape)
		m.items.announce()
		m.items.beginText(kind, e.Part)
		m.items.text.seen += utf8.RuneCount(e.Text)
		m.items.fragment(e.Text)
	case event.Source:
		if m.items.text.kind != &outputText {
			m.Drop("annotations")
			return
		}
		m.items.annotate(e.Source)
	case event.Logprobs:
		wanted := m.Context.Logprobs.Asked || m.items.native != nil
		if wanted && m.items.text.kind == &outputText && !jsonscan.Blank(e.Logprobs) {
			m.items.score(e.Logprobs)
		}
	case event.Inline:
		m.image(e.Media)
	case event.Reasoning:
		m.reasoning(e)
	case event.Signature:
		m.sign(e)
	case event.Redacted:
		m.redacted(e.Text)
	case event.ToolStart:
		m.startCall(e)
	case event.ToolArgs:
		m.arguments(e.Text)
	case event.TextEnd, event.ReasoningEnd:
		if m.items.open.shape == endOf[e.Kind] {
			m.close(completed)
		}
	case event.ToolEnd: // at the end of an answer that was cut off, its arguments may be, too
		status := completed
		if m.Ending.Reached && !m.call.args.Complete() {
			status, _ = endingOf(m.Ending.Reason)
		}
		m.close(status)
	}
}

// enter opens an item, after the end of the one before, unless one of the shape is open.
func (m *Emitter) enter(shape *itemShape) {
	if m.items.open.shape != shape {
		m.close(completed)
		m.items.begin(shape)
	}
}

// close closes the open item, if there is one, with a status.
func (m *Emitter) close(status string) {
	switch m.items.open.shape {
	case nil:
		return
	case &messageShape, &imageShape:
	case &reasoningShape:
		m.endReasoning()
	default:
		m.endCall()
	}
	m.items.end(status)
}

// Finish closes the open item and writes the end. The open item is incomplete if the answer
// is. The provider's explanation of a refusal becomes the text of an empty answer.
func (m *Emitter) Finish(end *singleanswer.Ending) {
	m.begin()
	status, reason := endingOf(end.Reason)
	switch {
	case len(end.Explanation) == 0:
	case m.items.ended.count == 0 && m.items.open.shape == nil:
		m.write(&event.Event{Kind: event.Text, Text: end.Explanation})
	default:
		m.Drop("stop_details.explanation")
	}
	m.close(status)
	m.items.endNative()
	if m.check(); m.Fault() != nil {
		return
	}
	e := &ending{status: status, reason: reason, output: m.items.ended.json, usage: &end.Usage, tier: end.Tier}
	if m.Context.Stream {
		m.lifecycle("response."+status, e)
	} else {
		m.Written = m.frame.append(slices.Grow(m.Written, len(e.output)+len(m.frame.settings)+roomOfFrame), e)
	}
}

// AppendFailure appends the event that ends a failed stream. It contains the items that
// have ended; the open item stays open.
func (m *Emitter) AppendFailure(dst []byte, ids translate.IDs, fault *fault.Fault) []byte {
	if !m.begun {
		return AppendFailure(dst, ids, fault)
	}
	return m.frame.appendEvent(dst, "response.failed", m.items.events.next(), &ending{status: failed, fault: fault, output: m.items.ended.json})
}

// AppendKeepAlive appends an event that changes nothing, since some clients do not count
// comments as activity: an empty delta, or response.in_progress. The latter contains the
// items that have ended, because some clients replace their items by those of the event.
func (m *Emitter) AppendKeepAlive(dst []byte) []byte {
	switch events := &m.items.events; {
	case !m.begun:
		return append(dst, openai.KeepAlive...)
	case m.items.text.kind != nil:
		return events.appendDelta(dst, &m.items.text, nil)
	default:
		return m.frame.appendEvent(dst, "response.in_progress", events.next(), &ending{status: inProgress, output: m.items.ended.json})
	}
}
