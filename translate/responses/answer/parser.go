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
// body. Unlike an observer it refuses what it cannot read, since that cannot be
// relayed either.
//
// Every text comes several times in a stream: in deltas, and whole in the events
// that end its part, its item and the response. What was not streamed of it is told
// when it comes whole, so that servers which leave out deltas, or the events that
// announce them, are understood as well.
type Parser struct {
	translate.Dropped

	handler event.Handler
	cursor  jsonscan.Cursor // in here so that an event costs no allocation
	event   event.Event
	text    []byte // memory of decoded texts
	scores  []byte // memory of log probabilities
	name    []byte // memory of the names of events that have none of their own

	read  reading  // what the event at hand says
	again repeated // the delta before
	sent  int      // events of the one at hand

	items      []*output // in order of first sight
	parts      int       // of all items
	last       *output   // the message or the reasoning that said something last
	calls      int       // that were begun
	cited      int       // bytes of sources
	characters int       // of text that was told
	refused    bool
	counts     counts
	usage      token.Usage

	started  bool // EventStart was sent
	finished bool // the reason why the turn ended was told
	over     bool // nothing that follows counts
}

// NewParser returns a parser of one answer.
func NewParser(h event.Handler) *Parser { return &Parser{handler: h} }

// Finished reports whether the turn, of which there is one, has told why it ended.
func (p *Parser) Finished(int) bool { return p.finished }

// Choices is how many answers the format gives in one.
func (p *Parser) Choices() int { return 1 }

// Event reads the next event of a stream.
func (p *Parser) Event(event sse.Event) {
	if p.over || p.repeats(event) || string(event.Data) == "[DONE]" {
		return
	}
	p.again.data.Forget()
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
		p.Dropped = dropped // what surrounds an error is no part of an answer
	}
	if isError {
		p.fail(readFault(event.Data))
		return
	}
	p.step(kind, event.Name)
	if kind.delta() {
		p.remember(event)
	}
}

// unreadable judges an event that is no JSON object. Those that nobody knows may be
// anything.
func (p *Parser) unreadable(name []byte, kind eventKind, cause error) {
	if len(name) > 0 && !kind.known() {
		if kind == otherEvent {
			p.dropEvent(name)
		}
		return
	}
	p.fail(fault.Unusable(cause))
}

// step tells what an event means.
func (p *Parser) step(kind eventKind, name []byte) {
	switch {
	case kind.delta():
		p.delta(kind)
		return
	case kind.done():
		p.whole(kind)
		return
	}
	switch kind {
	case headEvent:
		p.begin()
		p.count()
	case itemAdded:
		p.addItem()
	case itemDone:
		p.endItem()
	case partDone, summaryPartDone:
		p.wholePart()
	case annotationAdded:
		p.annotate()
	case completedEvent, incompleteEvent:
		p.complete(kind == incompleteEvent)
	case partAdded, summaryPartAdded, quietEvent:
	default:
		p.other(name)
	}
}

// other notes an event that nobody knows. Those about an item are about one that the
// vendor works on itself, which is noted when it comes.
func (p *Parser) other(name []byte) {
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

// End is the end of a stream's body. It never completes an answer, for only the
// last event of the format says that there is nothing more.
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

// begin tells what the response says of itself, once.
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
	errStatus   = errors.New("a response that is not at its end")
	errNameless = errors.New("a tool call without a name")
)

// complete ends an answer whose response is at its end: it tells what was not yet
// streamed of its items, and what it came to. The status counts more than the name of
// the event: some servers name every end a completed one.
func (p *Parser) complete(incomplete bool) {
	h := &p.read.head
	if h.isFault() {
		p.Dropped = translate.Dropped{}
		p.fail(readFault(p.read.response))
		return
	}
	p.begin()
	p.output(h.output)
	incomplete = incomplete || string(h.status) == `"incomplete"`
	p.endAll(incomplete)
	p.finish(incomplete)
}

// finish tells the usage and why the turn ended.
func (p *Parser) finish(incomplete bool) {
	p.count()
	reason := p.reason(incomplete)
	p.finished = true
	p.send(event.Event{Kind: event.Finish, Finish: reason})
	p.send(event.Event{Kind: event.End})
	p.over = true
}

// count tells the usage so far. Counts that are missing or malformed leave what was
// said before.
func (p *Parser) count() {
	h := &p.read.head
	p.counts = h.counts
	if p.usage = p.counts.usage(); p.usage.Known {
		p.send(event.Event{Kind: event.Usage, Usage: &p.usage, Tier: h.tier()})
	}
}

// reason is why the turn ended.
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
