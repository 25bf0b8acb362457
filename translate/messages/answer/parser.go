package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Parser reads an answer of the format into core events, a stream (wire format
// D.5) as well as a JSON body. Unlike an observer, a Parser refuses an answer that it
// cannot read, since such an answer cannot be translated.
type Parser struct {
	translate.Dropped
	event.Sender

	reading  reading
	blocks   map[int64]*block // that have not ended, by index
	seen     seen
	report   token.Report // of the last usage objects
	usage    token.Usage
	tier     event.Tier
	finished bool // the stop_reason is known
}

var errNothing = errors.New("an end without a beginning")

// The parts of answers that the core events cannot express.
const (
	lostBlock     = "content.*"
	lostCitations = "content.*.citations"
)

// NewParser returns a parser of one answer.
func NewParser(h event.Handler) *Parser {
	p := &Parser{blocks: make(map[int64]*block, 4), seen: seen{next: h}}
	p.Sender = event.NewSender(&p.seen)
	return p
}

// Finished reports whether the stop reason of the only turn is known.
func (p *Parser) Finished(int) bool { return p.finished }

// Choices returns 1, the number of choices of every answer.
func (p *Parser) Choices() int { return 1 }

// Event reads the next event of a stream.
func (p *Parser) Event(e sse.Event) {
	if p.Over() || p.Repeat(e.Name, e.Data) != nil {
		return
	}
	p.Begin()
	r, kind, name, dropped := &p.reading, eventKinds[string(e.Name)], e.Name, p.Dropped
	counted := false
	switch kind {
	case otherEvent, messageStop, errorEvent: // the data need not be read
	default:
		if err := r.read(e.Data, events, &p.Dropped); err != nil {
			p.Fail(fault.Unusable(err))
			return
		}
		counted = p.count(&r.whole, eventUsage)
		if kind == namelessEvent {
			name, kind = jsonscan.DecodedOf(r.whole.Raw(eventType)), r.kind()
		}
	}
	switch kind {
	case messageStart:
		p.readPart(eventMessage, messages)
		p.lose(lostBlock, r.part.Filled(messageContent))
		p.lose("stop_details", r.part.Filled(messageExplained))
		p.start(&r.part)
	case blockStart:
		p.blockStart()
	case blockDelta:
		p.blockDelta()
		p.Learn(e)
	case blockStop:
		index := token.CountOf(r.whole.Raw(eventIndex))
		p.endBlock(p.blocks[index])
		delete(p.blocks, index)
	case messageDelta:
		p.readPart(eventDelta, changes)
		p.finish(r.part.Raw(changeReason), r.part.Raw(changeSequence), r.part.Raw(changeExplained))
		if counted {
			p.sendUsage()
		}
	case messageStop:
		p.end()
	case errorEvent:
		p.Dropped = dropped // the members around an error are not part of an answer
		p.Fail(Dialect.ReadEvent(e.Data))
	case namelessEvent:
		p.Fail(fault.Unusable(errNoType))
	default:
		if string(name) != "ping" {
			p.DropNamed("event.", name)
		}
	}
}

// Answer reads a whole JSON answer, and sends the events of a stream.
func (p *Parser) Answer(body []byte) {
	r := &p.reading
	switch err := r.read(body, messages, &p.Dropped); {
	case p.Over():
		return
	case err != nil:
		p.Fail(fault.Unusable(err))
		return
	case r.isError():
		p.Dropped = translate.Dropped{} // the members around an error are not part of an answer
		p.Fail(fault.ReadAnswer(body))
		return
	case !r.hasContent():
		p.Fail(fault.Unusable(errNoContent))
		return
	}
	p.Send(event.Event{Kind: event.Native, Text: body})
	p.start(&r.whole)
	list := r.whole.Cursor(messageContent)
	for list.OpenArray(); list.Element() && !p.Over(); {
		whole := list
		p.Send(event.Event{Kind: event.Native, Text: whole.Skip()})
		p.endBlock(p.beginBlock(&list))
	}
	if err := list.Err(); err != nil {
		p.Fail(fault.Unusable(err))
	}
	p.finish(r.whole.Raw(messageReason), r.whole.Raw(messageSequence), r.whole.Raw(messageExplained))
	p.end()
}

// End ends the body of a stream.
func (p *Parser) End(clean bool) {
	if clean && p.finished {
		p.end()
	} else {
		p.Fail(fault.Truncated(nil))
	}
}

// end ends a complete answer. An answer that never began is a fault.
func (p *Parser) end() {
	if p.seen.events == 0 {
		p.Fail(fault.Unusable(errNothing))
		return
	}
	for _, b := range p.blocks {
		if len(b.sources) > 0 {
			p.Drop(lostCitations)
		}
	}
	p.Send(event.Event{Kind: event.End})
}

// start sends the beginning of a message.
func (p *Parser) start(message *members.Values) {
	p.lose("input_tokens", message.Filled(messageTokens))
	p.count(message, messageUsage)
	p.Send(event.Event{
		Kind: event.Start, Model: []byte(jsonscan.TextOf(message.Raw(messageModel))), Usage: &p.usage, Tier: p.tier,
	})
	if p.usage.Known {
		p.sendUsage()
	}
}

func (p *Parser) sendUsage() {
	p.Send(event.Event{Kind: event.Usage, Usage: &p.usage, Tier: p.tier})
}

// finish sends the reason why the turn ended, if there is one. A later reason replaces an
// earlier one.
func (p *Parser) finish(reason, stop, explanation []byte) {
	if reason == nil {
		return
	}
	p.finished = true
	word := ReadStopReason(jsonscan.TextOf(reason))
	if word == event.FinishUnknown {
		p.Drop("stop_reason")
	}
	p.Send(event.Event{
		Kind: event.Finish, Finish: word, Stop: jsonscan.DecodedOf(stop), Text: jsonscan.DecodedOf(explanation),
	})
}

// count adds the usage in an event or a message, and reports whether there is any.
func (p *Parser) count(v *members.Values, usage members.Member) bool {
	if !p.reading.count(v, usage, &p.report) {
		return false
	}
	p.usage = p.usage.Then(p.report.Usage())
	var words members.Values
	p.reading.cursor = v.Cursor(usage)
	words.Read(&p.reading.cursor, tiers, nil)
	if raw := words.Raw(usageTier); raw != nil {
		p.tier = Tiers.Read(raw)
	}
	return true
}

// readPart reads an object inside the event. An invalid one ends the answer.
func (p *Parser) readPart(m members.Member, table *members.Table) {
	if err := p.reading.readPart(m, table, &p.Dropped); err != nil {
		p.Fail(fault.Unusable(err))
	}
}

// lose reports a value as dropped, unless it is nil.
func (p *Parser) lose(path string, raw []byte) {
	if raw != nil {
		p.Drop(path)
	}
}
