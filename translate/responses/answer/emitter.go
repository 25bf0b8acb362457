package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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

	frame    frame
	started  bool
	ending   bool // no more events come
	whole    bool // the JSON body is complete
	out      []byte
	sequence int64  // the number of the next event
	scores   int    // the position for log probabilities in the last delta, 0 for none
	output   []byte // the items that have ended, with commas between them
	items    int    // the number of items that have ended
	item     openItem

	characters  int // of text
	calls       toolcall.IDs
	usage       token.Usage
	tier        event.Tier
	reason      event.FinishReason
	explanation []byte  // why the provider refused
	native      *native // nil unless the provider has the same format
}

// NewEmitter returns an emitter of one answer to the request of the answer context.
func NewEmitter(m *translate.AnswerContext, ids translate.IDs) *Emitter {
	e := &Emitter{context: m, ids: ids}
	e.order = event.NewSequencer(m.Room(), e.write)
	return e
}

// Output returns the bytes written since the last call. For a JSON answer it returns
// nothing before the end. The bytes are valid until the next event.
func (m *Emitter) Output() []byte {
	m.scores = 0
	if !m.context.Stream && !m.whole {
		return nil
	}
	out := m.out
	m.out = m.out[:0]
	return out
}

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
	case event.Native:
		if m.native == nil {
			m.native = readNative(e.Text)
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
	switch {
	case m.fault != nil:
	case m.order.Fault() != nil:
		m.fault = m.order.Fault()
	case len(m.output)+m.item.size() > maxAnswer:
		m.fault = fault.Unusable(errLongAnswer)
	case m.native != nil && len(m.out) > m.native.room:
		m.fault = fault.Unusable(errTooLarge)
	}
}

// name keeps what the beginning states, once.
func (m *Emitter) name(e *event.Event) {
	if m.frame.id != "" {
		return
	}
	m.tier = e.Tier
	m.frame = frame{id: m.ids.Message, model: append([]byte(nil), e.Model...), created: e.Created, settings: m.context.Settings}
	if len(e.Model) == 0 {
		m.frame.model = []byte(m.ids.Model)
	}
	if e.Created == 0 {
		m.frame.created = m.ids.Created
	}
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
		m.sequence = m.ids.Begun()
	}
	if m.sequence > 0 {
		m.frame.created = m.ids.Created
		return
	}
	m.lifecycle("response.created", &ending{status: inProgress, output: []byte{}})
	m.lifecycle("response.in_progress", &ending{status: inProgress, output: []byte{}})
}

// lifecycle writes an event about the whole response.
func (m *Emitter) lifecycle(name string, e *ending) {
	switch {
	case m.native == nil:
		m.out = m.frame.appendEvent(m.out, name, m.sequence, e)
		m.sequence++
		return
	case e.status == inProgress:
		m.open(name)
		m.out = append(append(m.out, `,"response":`...), m.native.begun...)
	default:
		m.open(name)
		m.out = append(append(m.out, `,"response":`...), m.native.whole...)
	}
	m.shut()
}

// write writes an event that belongs to an item. The sequencer calls it in the order of
// the items.
func (m *Emitter) write(e *event.Event) {
	if m.fault != nil {
		return
	}
	if m.native != nil && m.skipsNative(e) {
		return
	}
	switch e.Kind {
	case event.Native:
		m.nextItem(e.Text)
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

// end closes the open item and writes the end. The open item is incomplete if the answer
// is.
func (m *Emitter) end() {
	m.start()
	status, reason := endingOf(m.reason)
	m.ending = true
	m.order.Flush()
	m.explain()
	m.close(status)
	m.endNative()
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

// explain writes the provider's explanation of a refusal as the text of an empty answer.
func (m *Emitter) explain() {
	switch {
	case len(m.explanation) == 0:
	case m.items == 0 && m.item.kind == unknownItem:
		m.text(&event.Event{Text: m.explanation})
	default:
		m.Drop("stop_details.explanation")
	}
}

// AppendFailure appends the event that ends a failed stream. It contains the items that
// have ended; the open item stays open.
func (m *Emitter) AppendFailure(dst []byte, ids translate.IDs, fault *fault.Fault) []byte {
	if !m.started {
		return AppendFailure(dst, ids, fault)
	}
	m.sequence++
	return m.frame.appendFailed(dst, m.sequence-1, m.ended(), fault)
}

// AppendKeepAlive appends an event that changes nothing, since some clients do not count
// comments as activity: an empty delta, or response.in_progress. The latter contains the
// items that have ended, because some clients replace their items by those of the event.
func (m *Emitter) AppendKeepAlive(dst []byte) []byte {
	switch {
	case !m.started:
		return append(dst, openai.KeepAlive...)
	case m.item.delta != nil:
		return m.appendDelta(dst, nil)
	}
	m.sequence++
	return m.frame.appendEvent(dst, "response.in_progress", m.sequence-1, &ending{status: inProgress, output: m.ended()})
}

// ended returns the items that have ended, never nil.
func (m *Emitter) ended() []byte {
	if m.output == nil {
		return []byte{}
	}
	return m.output
}

// itemID returns the id of the open item. It is unique, since it contains the id of the
// answer.
func (m *Emitter) itemID(prefix string) []byte {
	if m.native != nil && m.native.id != nil {
		return m.native.id
	}
	_, random, _ := strings.Cut(m.ids.Message, "_")
	id := append([]byte(prefix), random[:min(len(random), 20)]...)
	number := strconv.Itoa(m.items)
	for range 4 - len(number) {
		id = append(id, '0')
	}
	return append(id, number...)
}

// open writes the beginning of an event: its name and its number.
func (m *Emitter) open(name string) {
	m.out = append(m.out, "event: "+name+"\ndata: "+`{"type":"`+name+`","sequence_number":`...)
	m.out = strconv.AppendInt(m.out, m.sequence, 10)
	m.sequence++
	m.scores = 0
}

// openPart is open for an event about a part of the item; index is the name of the member
// with the part's index, "" for an item with one part.
func (m *Emitter) openPart(name, index string) {
	m.open(name)
	m.out = m.item.appendPlace(m.out, m.items, index)
}

// shut writes the end of an event.
func (m *Emitter) shut() { m.out = append(m.out, "}\n\n"...) }

// member writes a member with an escaped text.
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

// delta contains the constant parts of the deltas of an open part: the sequence number
// is between name and place, the text between place and end.
type delta struct{ name, place, end []byte }

// beginDeltas sets the constant parts of the deltas of the open part.
func (m *Emitter) beginDeltas(name, index, end string) {
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
