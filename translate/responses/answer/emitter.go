package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/toolcall"
)

// Emitter writes core events as an answer of the format: a stream of events or one
// JSON body, whichever the client wants. The last event of a stream contains the whole
// answer, so the same code writes both.
//
// At most one item is open at any time: a sequencer holds back the events of other items
// until its end, so that the indexes of items are their positions in the output. Events
// of choices other than 0 are dropped: the format has one choice.
type Emitter struct {
	translate.Dropped

	context *translate.AnswerContext
	ids     translate.IDs
	order   *event.Sequencer
	fault   *fault.Fault

	started bool
	frame   frame
	items   itemWriter
	call    openCall
	thought thought
	calls   toolcall.IDs
	finish  finish
}

// finish is the end of an answer, as far as it is known.
type finish struct {
	reason      event.FinishReason
	explanation []byte // why the provider refused
	usage       token.Usage
	tier        event.Tier
	reached     bool // no more events come
}

// NewEmitter returns an emitter of one answer to the request of the answer context.
func NewEmitter(m *translate.AnswerContext, ids translate.IDs) *Emitter {
	_, random, _ := strings.Cut(ids.Message, "_")
	e := &Emitter{context: m, ids: ids, items: itemWriter{stem: random[:min(len(random), 20)], events: eventWriter{stream: m.Stream}}}
	e.order = event.NewSequencer(m.Room(), e.write)
	return e
}

// Output returns the bytes written since the last call. For a JSON answer it returns
// nothing before the end. The bytes are valid until the next event.
func (m *Emitter) Output() []byte { return m.items.events.output() }

// Fault returns the reason why the events cannot be written, or nil.
func (m *Emitter) Fault() *fault.Fault { return m.fault }

// Handle writes the next core event. AppendFailure writes errors.
func (m *Emitter) Handle(e *event.Event) {
	if m.fault != nil {
		return
	}
	if e.Choice != 0 {
		m.Drop("choices[*]")
		return
	}
	switch e.Kind {
	case event.Start:
		m.name(e)
	case event.Finish:
		m.finish.reason = e.Finish
		m.finish.explanation = append(m.finish.explanation[:0], e.Text...)
	case event.Usage:
		m.finish.usage = *e.Usage
		if e.Tier != event.TierUnknown {
			m.finish.tier = e.Tier
		}
	case event.End:
		m.end()
	case event.Error:
	case event.Native:
		if m.items.native == nil {
			m.items.native = readNative(e.Text)
			return
		}
		fallthrough
	default:
		m.start()
		m.order.Handle(e)
		m.check()
	}
}

// maxAnswer bounds an answer, which the last event of a stream contains whole, in bytes.
const maxAnswer = 32 << 20

var errLongAnswer = fmt.Errorf("an answer of more than %d bytes", maxAnswer)

// check sets the fault if the answer is too large or out of order.
func (m *Emitter) check() {
	switch native := m.items.native; {
	case m.fault != nil:
	case m.order.Fault() != nil:
		m.fault = m.order.Fault()
	case m.items.size()+m.thought.size()+len(m.call.held) > maxAnswer:
		m.fault = fault.Unusable(errLongAnswer)
	case native != nil && len(m.items.events.out) > native.room:
		m.fault = fault.Unusable(errTooLarge)
	}
}

// name keeps what the beginning states, once.
func (m *Emitter) name(e *event.Event) {
	if m.frame.id != "" {
		return
	}
	m.finish.tier = e.Tier
	m.frame = frame{m.ids.Message, cmp.Or(string(e.Model), m.ids.Model), cmp.Or(e.Created, m.ids.Created), m.context.Settings}
}

// start writes the beginning, once, before the first content. What the client already has
// of the stream is not repeated.
func (m *Emitter) start() {
	if m.started {
		return
	}
	m.started = true
	m.name(&event.Event{})
	if !m.context.Stream {
		return
	}
	if m.ids.Begun != nil {
		m.items.events.sequence = m.ids.Begun()
	}
	if m.items.events.sequence > 0 {
		m.frame.created = m.ids.Created
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
		events.out = m.frame.appendEvent(events.out, name, events.next(), e)
	case e.status == inProgress:
		events.write(name, nil, "response", native.begun)
	default:
		events.write(name, nil, "response", native.whole)
	}
}

// endOf contains the shapes of items that events end.
var endOf = [...]*itemShape{event.TextEnd: &messageShape, event.ReasoningEnd: &reasoningShape}

// write writes an event that belongs to an item. The sequencer calls it in the order of
// the items.
func (m *Emitter) write(e *event.Event) {
	if native := m.items.native; m.fault != nil || native != nil && native.has(e) {
		return
	}
	switch e.Kind {
	case event.Native:
		m.close(completed)
		m.items.endNative()
		m.fault = m.items.native.next(e.Text)
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
		wanted := m.context.Logprobs.Asked || m.items.native != nil
		if wanted && m.items.text.kind == &outputText && !jsonscan.Blank(e.Logprobs) {
			m.items.score(e.Logprobs)
		}
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
		if m.finish.reached && !m.call.args.Complete() {
			status, _ = endingOf(m.finish.reason)
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
	case &messageShape:
	case &reasoningShape:
		m.endReasoning()
	default:
		m.endCall()
	}
	m.items.end(status)
}

// end closes the open item and writes the end. The open item is incomplete if the answer
// is. The provider's explanation of a refusal becomes the text of an empty answer.
func (m *Emitter) end() {
	m.start()
	f, events := &m.finish, &m.items.events
	status, reason := endingOf(f.reason)
	f.reached = true
	m.order.Flush()
	switch {
	case len(f.explanation) == 0:
	case m.items.ended.count == 0 && m.items.open.shape == nil:
		m.write(&event.Event{Kind: event.Text, Text: f.explanation})
	default:
		m.Drop("stop_details.explanation")
	}
	m.close(status)
	m.items.endNative()
	if m.check(); m.fault != nil {
		return
	}
	e := &ending{status: status, reason: reason, output: m.items.ended.json, usage: &f.usage, tier: f.tier}
	if m.context.Stream {
		m.lifecycle("response."+status, e)
		return
	}
	events.out = m.frame.append(slices.Grow(events.out, len(e.output)+len(m.frame.settings)+roomOfFrame), e)
	events.whole = true
}

// AppendFailure appends the event that ends a failed stream. It contains the items that
// have ended; the open item stays open.
func (m *Emitter) AppendFailure(dst []byte, ids translate.IDs, fault *fault.Fault) []byte {
	if !m.started {
		return AppendFailure(dst, ids, fault)
	}
	return m.frame.appendFailed(dst, m.items.events.next(), m.items.ended.json, fault)
}

// AppendKeepAlive appends an event that changes nothing, since some clients do not count
// comments as activity: an empty delta, or response.in_progress. The latter contains the
// items that have ended, because some clients replace their items by those of the event.
func (m *Emitter) AppendKeepAlive(dst []byte) []byte {
	switch events := &m.items.events; {
	case !m.started:
		return append(dst, openai.KeepAlive...)
	case m.items.text.kind != nil:
		return events.appendDelta(dst, &m.items.text, nil)
	default:
		return m.frame.appendEvent(dst, "response.in_progress", events.next(), &ending{status: inProgress, output: m.items.ended.json})
	}
}
