package answer

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Parser reads an answer of the format into core events, a stream as well as a JSON
// body. Unlike an observer, a Parser refuses an answer that it cannot read, since such an
// answer cannot be translated.
//
// A stream contains every text several times: in deltas, and whole in the events that
// end the part, the item and the response. The parser sends the deltas, and from the
// whole texts the rest that was not sent, so that it also reads servers that omit
// deltas or the events that announce them.
type Parser struct {
	translate.Dropped

	handler event.Handler
	cursor  jsonscan.Cursor // a field, so that an event costs no allocation
	event   event.Event
	text    []byte // memory of decoded texts
	scores  []byte // memory of log probabilities
	name    []byte // memory of the names of events that have only a type

	read     reading  // the current event
	template template // of the last delta
	sent     int      // core events of the current event

	items      []*output // in order of their first events
	waiting    []queue   // of the items that wait, in order of their first events
	held       int       // bytes of the events that wait
	parts      int       // of all items
	last       *output   // the message or the reasoning with the last content, until it ends
	calls      int       // that have begun
	cited      int       // bytes of sources
	characters int       // of text that was sent
	refused    bool
	counts     token.Report
	usage      token.Usage

	started  bool // the event Start was sent
	finished bool // the event Finish was sent
	over     bool // all later events are ignored
}

// NewParser returns a parser of one answer.
func NewParser(h event.Handler) *Parser { return &Parser{handler: h} }

// Finished reports whether the reason why the only turn ended is known.
func (p *Parser) Finished(int) bool { return p.finished }

// Choices returns 1, the number of choices of every answer.
func (p *Parser) Choices() int { return 1 }

// Event reads the next event of a stream.
func (p *Parser) Event(event sse.Event) {
	if p.over || p.repeats(event) || string(event.Data) == "[DONE]" {
		return
	}
	p.template.data.Forget()
	p.sent = 0
	dropped := p.Dropped
	kind := eventKindOf(event.Name)
	if err := p.readEvent(event.Data); err != nil {
		p.unreadable(event.Name, kind, err)
		return
	}
	if len(event.Name) == 0 {
		p.name = jsonscan.AppendText(p.name[:0], p.read.kind)
		event.Name, kind = p.name, eventKindOf(p.name)
	}
	isError := p.read.isError || kind == errorEvent || kind == failedEvent
	if isError || !kind.known() {
		p.Dropped = dropped // the members around an error are not part of an answer
	}
	if isError {
		p.fail(readFault(event.Data))
		return
	}
	if p.mustWait(kind) {
		p.Dropped = dropped // the event is read again
		p.wait(event)
		return
	}
	p.step(kind, event.Name)
	if kind.delta() {
		p.remember(event)
	}
	p.release()
}

// unreadable ends the answer at an event that is not a JSON object. Unknown events may have
// any data.
func (p *Parser) unreadable(name []byte, kind eventKind, cause error) {
	if len(name) > 0 && !kind.known() {
		if kind == otherEvent {
			p.dropEvent(name)
		}
		return
	}
	p.fail(fault.Unusable(cause))
}

// step sends the core events of an event.
func (p *Parser) step(kind eventKind, name []byte) {
	switch {
	case kind.delta():
		p.delta(kind)
		return
	case kind.done():
		p.endText(kind)
		return
	}
	switch kind {
	case headEvent:
		p.begin()
		p.sendUsage()
	case itemAdded:
		p.addItem()
	case itemDone:
		p.countSearch()
		p.endItem()
	case partDone, summaryPartDone:
		p.endPart()
	case annotationAdded:
		p.annotate()
	case completedEvent, incompleteEvent:
		p.complete(kind == incompleteEvent)
	case partAdded, summaryPartAdded, quietEvent:
	default:
		p.unknownEvent(name)
	}
}

// unknownEvent reports an unknown event as dropped. An unknown event about an item belongs
// to a tool of the vendor, whose item is reported instead.
func (p *Parser) unknownEvent(name []byte) {
	switch {
	case len(name) == 0:
		p.fail(fault.Unusable(errNoType))
	case p.read.output < 0:
		p.dropEvent(name)
	}
}

func (p *Parser) dropEvent(name []byte) {
	p.DropNamed(inEvent, bytes.TrimPrefix(name, []byte("response.")))
}

// End ends the body of a stream. It never completes an answer, which only the last event
// of the format does.
func (p *Parser) End(bool) {
	if !p.over {
		p.fail(fault.Truncated(nil))
	}
}

func (p *Parser) fail(fault *fault.Fault) {
	if p.over {
		return
	}
	p.send(event.Event{Kind: event.Error, Fault: fault})
	p.over = true
}

func (p *Parser) send(e event.Event) {
	if p.over {
		return
	}
	p.sent++
	if e.Kind == event.Text {
		p.characters += utf8.RuneCount(e.Text)
	}
	p.event = e
	p.handler.Handle(&p.event)
}

// begin sends the start event, once.
func (p *Parser) begin() {
	if p.started {
		return
	}
	p.started = true
	h := &p.read.head
	p.send(event.Event{
		Kind: event.Start, Model: jsonscan.AppendText(nil, h.model), Created: h.created, Usage: &p.usage, Tier: h.tier(),
	})
}

var (
	errStatus   = errors.New("the end of a response that is not complete")
	errNameless = errors.New("a tool call without a name")
)

// complete ends an answer: it sends the rest of its items, the usage and the reason why it
// ended. The status takes precedence over the name of the event, since some servers end
// every stream with response.completed.
func (p *Parser) complete(incomplete bool) {
	h := &p.read.head
	if h.isFault() {
		p.Dropped = translate.Dropped{}
		p.fail(readFault(p.read.response))
		return
	}
	if !h.ended() {
		p.fail(fault.Unusable(errStatus))
		return
	}
	p.begin()
	p.sendOutput(h.output)
	p.releaseAll()
	incomplete = incomplete || string(h.status) == `"incomplete"`
	p.endAll(incomplete)
	p.finish(incomplete)
}

// finish sends the usage, the reason why the turn ended, and the end.
func (p *Parser) finish(incomplete bool) {
	p.sendUsage()
	reason := p.reason(incomplete)
	p.finished = true
	p.send(event.Event{Kind: event.Finish, Finish: reason})
	p.send(event.Event{Kind: event.End})
	p.over = true
}

// sendUsage sends the usage so far. Counts that are absent or malformed leave those of an
// earlier event unchanged.
func (p *Parser) sendUsage() {
	h := &p.read.head
	p.counts = h.counts
	if p.usage = p.usage.Then(p.counts.Usage()); p.usage.Known || p.usage.Searches > 0 {
		p.send(event.Event{Kind: event.Usage, Usage: &p.usage, Tier: h.tier()})
	}
}

// reason returns the reason why the turn ended.
func (p *Parser) reason(incomplete bool) event.FinishReason {
	switch {
	case incomplete && string(p.read.head.reason) == `"content_filter"`:
		return event.FinishFiltered
	case incomplete:
		return event.FinishLength
	case p.refused:
		return event.FinishRefused
	case p.calls > 0:
		return event.FinishTools
	default:
		return event.FinishStop
	}
}
