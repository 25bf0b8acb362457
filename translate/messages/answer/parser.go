package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Parser reads an answer of the format into core events, a stream (wire format
// D.5) as well as a JSON body. Unlike an observer, a Parser refuses an answer that it
// cannot read, since such an answer cannot be translated.
type Parser struct {
	singleanswer.Parser
	reading reading
	blocks  map[int64]*singleanswer.Item // that have not ended, by index
}

// words are the words of the format for what all answers state.
var words = singleanswer.Words{Usage: usageRows, Reason: "stop_reason"}

// The parts of answers that the core events cannot express.
const (
	lostBlock     = "content.*"
	lostKind      = lostBlock + ".type="
	lostCitations = "content.*.citations"
)

// NewParser returns a parser of one answer.
func NewParser(h event.Handler) *Parser {
	p := &Parser{blocks: make(map[int64]*singleanswer.Item, 4)}
	p.Init(&words, h)
	return p
}

// Event reads the next event of a stream.
func (p *Parser) Event(e sse.Event) {
	if p.Events.Over() || p.Events.Repeat(e.Name, e.Data) != nil {
		return
	}
	p.Events.Begin()
	r, kind, name, dropped := &p.reading, eventKinds[string(e.Name)], e.Name, p.Dropped
	counted := false
	switch kind {
	case otherEvent, messageStop, errorEvent: // the data need not be read
	default:
		if err := r.read(e.Data, events, &p.Dropped); err != nil {
			p.Events.Refuse(err)
			return
		}
		counted = p.count(&r.whole, eventUsage)
		if kind == namelessEvent {
			typ := r.whole.Raw(eventType)
			name, kind = jsonscan.DecodedOf(typ), kindOf(typ, r.whole.Filled(eventError))
		}
	}
	switch kind {
	case messageStart:
		p.readPart(eventMessage, messages)
		p.Lose(lostBlock, r.part.Filled(messageContent))
		p.Lose("stop_details", r.part.Filled(messageExplained))
		p.start(&r.part)
	case blockStart:
		p.blockStart()
	case blockDelta:
		p.blockDelta()
		p.Events.Learn(e)
	case blockStop:
		index := token.CountOf(r.whole.Raw(eventIndex))
		if it := p.blocks[index]; it != nil {
			p.Events.Close(it)
		}
		delete(p.blocks, index)
	case messageDelta:
		p.readPart(eventDelta, changes)
		p.Finish(r.part.Raw(changeReason), r.part.Raw(changeSequence), r.part.Raw(changeExplained))
		if counted {
			p.SendUsage()
		}
	case messageStop:
		p.end()
	case errorEvent:
		p.Dropped = dropped // the members around an error are not part of an answer
		p.Events.Fail(Dialect.ReadEvent(e.Data))
	case namelessEvent:
		p.Events.Refuse(errNoType)
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
	case p.Events.Over():
		return
	case err != nil:
		p.Events.Refuse(err)
		return
	case r.isError():
		p.Dropped = translate.Dropped{} // the members around an error are not part of an answer
		p.Events.Fail(fault.ReadAnswer(body))
		return
	case !r.hasContent():
		p.Events.Refuse(errNoContent)
		return
	}
	p.Events.Send(event.Event{Kind: event.Native, Text: body})
	p.start(&r.whole)
	list := r.whole.Cursor(messageContent)
	for list.OpenArray(); list.Element() && !p.Events.Over(); {
		whole := list
		p.Events.Send(event.Event{Kind: event.Native, Text: whole.Skip()})
		it := p.beginBlock(&list)
		p.Events.Close(&it)
	}
	p.Events.Refuse(list.Err())
	p.Finish(r.whole.Raw(messageReason), r.whole.Raw(messageSequence), r.whole.Raw(messageExplained))
	p.end()
}

// end ends a complete answer.
func (p *Parser) end() {
	for _, it := range p.blocks {
		if it.HasSources() {
			p.Drop(lostCitations)
		}
	}
	p.Events.Complete()
}

// start sends the beginning of a message.
func (p *Parser) start(message *members.Values) {
	p.Lose("input_tokens", message.Filled(messageTokens))
	p.count(message, messageUsage)
	p.Start([]byte(jsonscan.TextOf(message.Raw(messageModel))), 0)
	p.SendUsage()
}

// count adds the usage in an event or a message, and reports whether there is any.
func (p *Parser) count(v *members.Values, usage members.Member) bool {
	if tier := jsonscan.MemberOf(v.Raw(usage), "service_tier"); jsonscan.IsString(tier) {
		p.ReadTier(tier, "usage.service_tier")
	}
	return p.Count(v, usage)
}

// readPart reads an object inside the event. A value that is absent or of another kind has
// no members; an invalid one ends the answer.
func (p *Parser) readPart(m members.Member, table *members.Table) {
	r := &p.reading
	if r.whole.Raw(m) == nil {
		r.part = members.Values{}
		return
	}
	c := r.whole.Cursor(m)
	r.part.Read(&c, table, &p.Dropped)
	p.Events.Refuse(c.Err())
}
