package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/toolcall"
)

// Emitter writes core events as an answer of the format: a stream of events or one
// JSON body, whichever the client wants. The last event of a stream holds the whole
// answer, so both are the same object, and a stream adds the events on the way.
//
// Exactly one item is open at any time: a sequencer keeps what must wait for its
// end, so that events are numbered without gaps and indices are those of the output.
// It writes choice 0 alone: the format has no others.
type Emitter struct {
	translate.Dropped

	context *translate.AnswerContext
	ids     translate.IDs
	order   *event.Sequencer
	fault   *fault.Fault

	frame    frame
	started  bool
	ending   bool // no more events come
	whole    bool // the JSON body is complete
	out      []byte
	sequence int64  // the number of the next event
	scores   int    // where the log probabilities of the delta that was written last can be put, 0 for nowhere
	output   []byte // the items that have ended, with commas between them
	items    int    // that were begun and have ended
	item     openItem

	characters  int // of text
	calls       toolcall.IDs
	usage       token.Usage
	tier        event.Tier
	reason      event.FinishReason
	explanation []byte // why the provider refused
}

// NewEmitter returns an emitter of one answer to the request that the memory is of.
func NewEmitter(m *translate.AnswerContext, ids translate.IDs) *Emitter {
	e := &Emitter{context: m, ids: ids}
	e.order = event.NewSequencer(m.Room(), e.write)
	return e
}

// Output returns what was written since it was called last: of a JSON answer nothing
// before its end. It is valid until the next event.
func (m *Emitter) Output() []byte {
	m.scores = 0
	if !m.context.Stream && !m.whole {
		return nil
	}
	out := m.out
	m.out = m.out[:0]
	return out
}

// Fault says why the events cannot be written, nil while they can.
func (m *Emitter) Fault() *fault.Fault { return m.fault }

// Handle writes the next core event. Errors are not written here, but by
// AppendFailure.
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
		m.start(e)
	case event.Finish:
		m.reason = e.Finish
		m.explanation = append(m.explanation[:0], e.Text...)
	case event.Usage:
		m.usage = *e.Usage
		if e.Tier != event.TierUnknown {
			m.tier = e.Tier
		}
	case event.End:
		m.end()
	case event.Error:
	default:
		m.start(&event.Event{})
		m.order.Handle(e)
		m.check()
	}
}

// check notes what keeps the answer from being written.
func (m *Emitter) check() {
	switch {
	case m.fault != nil:
	case m.order.Fault() != nil:
		m.fault = m.order.Fault()
	case len(m.output)+m.item.size() > m.context.Room():
		m.fault = fault.Unusable(fmt.Errorf("an answer of more than %d bytes", m.context.Room()))
	}
}

// start writes the beginning, once.
func (m *Emitter) start(e *event.Event) {
	if m.started {
		return
	}
	m.started = true
	m.tier = e.Tier
	m.frame = frame{id: m.ids.Message, model: append([]byte(nil), e.Model...), created: e.Created, settings: m.context.Settings}
	if len(e.Model) == 0 {
		m.frame.model = []byte(m.ids.Model)
	}
	if e.Created == 0 {
		m.frame.created = m.ids.Created
	}
	if m.context.Stream {
		m.lifecycle("response.created", &ending{status: inProgress, output: []byte{}})
		m.lifecycle("response.in_progress", &ending{status: inProgress, output: []byte{}})
	}
}

// lifecycle writes an event about the whole response.
func (m *Emitter) lifecycle(name string, e *ending) {
	m.out = m.frame.appendEvent(m.out, name, m.sequence, e)
	m.sequence++
}

// write writes an event that belongs to an item, when its place has come.
func (m *Emitter) write(e *event.Event) {
	if m.fault != nil {
		return
	}
	switch e.Kind {
	case event.Text:
		m.text(e)
	case event.TextEnd:
		m.closeIf(messageItem)
	case event.Source:
		m.annotate(e.Source)
	case event.Logprobs:
		m.score(e.Logprobs)
	case event.Reasoning:
		m.reasoning(e)
	case event.Signature:
		m.sign(e)
	case event.Redacted:
		m.redacted(e.Text)
	case event.ReasoningEnd:
		m.closeIf(reasoningItem)
	case event.ToolStart:
		m.startCall(e)
	case event.ToolArgs:
		m.arguments(e.Text)
	case event.ToolEnd:
		m.close(m.callStatus())
	}
}

// end closes what is open and writes the end. An item that is still open is
// incomplete if the answer is.
func (m *Emitter) end() {
	m.start(&event.Event{})
	status, reason := endingOf(m.reason)
	m.ending = true
	m.order.Flush()
	m.explain()
	m.close(status)
	if m.check(); m.fault != nil {
		return
	}
	if m.output == nil {
		m.output = []byte{}
	}
	e := &ending{status: status, reason: reason, output: m.output, usage: &m.usage, tier: m.tier}
	if m.context.Stream {
		m.lifecycle("response."+status, e)
		return
	}
	m.out = m.frame.append(slices.Grow(m.out, len(m.output)+len(m.frame.settings)+roomOfFrame), e)
	m.whole = true
}

// explain writes why the provider refused, where the model said nothing.
func (m *Emitter) explain() {
	switch {
	case len(m.explanation) == 0:
	case m.items == 0 && m.item.kind == unknownItem:
		m.text(&event.Event{Text: m.explanation})
	default:
		m.Drop("stop_details.explanation")
	}
}

// AppendFailure appends the event that ends a stream which failed. It holds the items
// that have ended; the one that is open stays so.
func (m *Emitter) AppendFailure(dst []byte, fault *fault.Fault) []byte {
	if !m.started {
		return AppendFailure(dst, m.ids, fault)
	}
	m.sequence++
	return m.frame.appendFailed(dst, m.sequence-1, m.ended(), fault)
}

// AppendKeepAlive appends an event that says nothing, for clients that hear nothing
// but events. The items that have ended are in it: some would forget them otherwise.
func (m *Emitter) AppendKeepAlive(dst []byte) []byte {
	switch {
	case !m.started:
		return append(dst, choices.KeepAlive...)
	case m.item.delta != nil:
		return m.appendDelta(dst, nil)
	}
	m.sequence++
	return m.frame.appendEvent(dst, "response.in_progress", m.sequence-1, &ending{status: inProgress, output: m.ended()})
}

// ended are the items that have ended.
func (m *Emitter) ended() []byte {
	if m.output == nil {
		return []byte{}
	}
	return m.output
}

// itemID returns the id of the item at hand. It follows from that of the answer,
// which no other has.
func (m *Emitter) itemID(prefix string) []byte {
	_, random, _ := strings.Cut(m.ids.Message, "_")
	id := append([]byte(prefix), random[:min(len(random), 20)]...)
	number := strconv.Itoa(m.items)
	for range 4 - len(number) {
		id = append(id, '0')
	}
	return append(id, number...)
}

// open writes the beginning of an event: its name, its number and the item that it
// is about.
func (m *Emitter) open(name string) {
	m.out = append(m.out, "event: "+name+"\ndata: "+`{"type":"`+name+`","sequence_number":`...)
	m.out = strconv.AppendInt(m.out, m.sequence, 10)
	m.sequence++
	m.scores = 0
}

// openPart is open for an event about a part of the item; index is the name of its
// index, "" for an item that has only one.
func (m *Emitter) openPart(name, index string) {
	m.open(name)
	m.out = m.item.appendPlace(m.out, m.items, index)
}

// shut writes the end of an event.
func (m *Emitter) shut() { m.out = append(m.out, "}\n\n"...) }

// member writes a member with a text that is escaped.
func (m *Emitter) member(name string, text []byte) {
	m.out = append(m.out, `,"`+name+`":"`...)
	m.out = append(m.out, text...)
	m.out = append(m.out, '"')
}

// itemEvent writes an event about the item as a whole.
func (m *Emitter) itemEvent(name string, item []byte) {
	m.open(name)
	m.out = append(m.out, `,"output_index":`...)
	m.out = strconv.AppendInt(m.out, int64(m.items), 10)
	m.out = append(m.out, `,"item":`...)
	m.out = append(m.out, item...)
	m.shut()
}

// delta is how the deltas of an open part begin and end.
type delta struct{ name, place, end []byte }

// deltas says how the deltas of the open part begin and end.
func (m *Emitter) deltas(name, index, end string) {
	d := &delta{end: []byte(end)}
	d.name = append(d.name, "event: "+name+"\ndata: "+`{"type":"`+name+`","sequence_number":`...)
	d.place = append(m.item.appendPlace(nil, m.items, index), `,"delta":"`...)
	m.item.delta = d
}

// appendDelta appends a delta of the open part.
func (m *Emitter) appendDelta(dst, fragment []byte) []byte {
	d := m.item.delta
	dst = append(dst, d.name...)
	dst = strconv.AppendInt(dst, m.sequence, 10)
	m.sequence++
	dst = append(dst, d.place...)
	dst = jsonscan.AppendEscaped(dst, fragment)
	return append(dst, d.end...)
}
