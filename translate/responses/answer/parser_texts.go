package answer

import (
	"bytes"
	"hash/maphash"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// place returns the item that an event with a text is about, the index of the part,
// and the core event that tells the text. The item is nil if the text does not count.
func (p *Parser) place(kind eventKind) (it *output, index int64, e event.Event) {
	switch kind {
	case textDelta, textDone:
		return p.of(messageItem), p.read.content, textEvent
	case refusalDelta, refusalDone:
		return p.of(messageItem), p.read.content, refusalEvent
	case summaryDelta, summaryDone:
		return p.thought(false), p.read.summary, reasoningEvent
	case thoughtDelta, thoughtDone:
		return p.thought(true), p.read.content, reasoningEvent
	case argumentsDelta, argumentsDone:
		it = p.of(callItem)
	default:
		it = p.of(freeCallItem)
	}
	if it == nil {
		return nil, 0, e
	}
	if it.late = it.late || !it.begun; it.late {
		return nil, 0, e
	}
	return it, 0, event.Event{Kind: event.ToolArgs, Tool: it.tool}
}

// The core events that tell texts, without them.
var (
	textEvent      = event.Event{Kind: event.Text}
	refusalEvent   = event.Event{Kind: event.Text, Refusal: true}
	reasoningEvent = event.Event{Kind: event.Reasoning}
)

// thought returns the item of reasoning that the event at hand is about. It is nil
// if the other one of its two lists of texts is told: both say the same, as a rule.
func (p *Parser) thought(content bool) *output {
	it := p.of(reasoningItem)
	switch {
	case it == nil:
		return nil
	case len(it.parts) == 0:
		it.lists = content
	case it.lists != content:
		p.Drop(it.otherList())
		return nil
	}
	return it
}

// otherList is the path of the list of a reasoning item that is not told.
func (it *output) otherList() string {
	if it.lists {
		return inItem + "summary"
	}
	return inItem + "content"
}

// delta tells what a delta adds.
func (p *Parser) delta(kind eventKind) {
	it, index, e := p.place(kind)
	if it == nil {
		return
	}
	if pt := p.part(it, index); pt != nil {
		p.tell(it, pt, p.read.text, &e)
		p.score(pt, p.read.logprobs)
	}
}

// whole tells what was not streamed of the text of an event that has all of it.
func (p *Parser) whole(kind eventKind) {
	it, index, e := p.place(kind)
	if it == nil {
		return
	}
	if pt := p.rest(it, index, p.read.text, &e); pt != nil && !pt.scored {
		p.score(pt, p.read.logprobs)
	}
}

// tell tells a text of a part as it is written, unless it is empty.
func (p *Parser) tell(it *output, pt *part, raw []byte, e *event.Event) {
	if len(raw) <= len(`""`) {
		return
	}
	p.text = jsonscan.AppendText(p.text[:0], raw)
	p.tellText(it, pt, p.text, e)
}

func (p *Parser) tellText(it *output, pt *part, text []byte, e *event.Event) {
	p.begin()
	if e.Kind != event.ToolArgs {
		p.enter(it)
		e.Part = int(pt.index)
		p.refused = p.refused || e.Refusal
	}
	pt.sent += len(text)
	pt.hash.Write(text)
	p.again.item, p.again.part = it, pt
	e.Text = text
	p.send(*e)
}

// rest tells what was not told of the whole text of a part. Where that does not begin
// with what was told, nothing can be taken back. It returns nil after a fault.
func (p *Parser) rest(it *output, index int64, raw []byte, e *event.Event) *part {
	pt := p.part(it, index)
	if pt == nil || raw == nil || pt.checked == pt.sent && jsonscan.TextLen(raw) == pt.sent {
		return pt
	}
	p.text = jsonscan.AppendText(p.text[:0], raw)
	told := min(pt.sent, len(p.text))
	if told < pt.sent || maphash.Bytes(seed, p.text[:told]) != pt.hash.Sum64() {
		p.Drop(lostText)
		return pt
	}
	if len(p.text) > told {
		p.tellText(it, pt, p.text[told:], e)
	}
	pt.checked = pt.sent
	return pt
}

// lostText is what is said of texts that come whole and are others than those that
// were streamed.
const lostText = "event.*.text"

// score tells the log probabilities of the text before them.
func (p *Parser) score(pt *part, raw []byte) {
	if jsonscan.Blank(raw) {
		return
	}
	pt.scored = true
	p.scores = jsonscan.AppendCompact(p.scores[:0], raw)
	p.send(event.Event{Kind: event.Logprobs, Logprobs: p.scores})
}

// repeated is what the delta before said.
type repeated struct {
	name  []byte // of the event
	data  jsonscan.Template
	event event.Event
	item  *output
	part  *part
}

// repeats tells the text of a delta that has the shape of the one before. It reports
// false, and does nothing, if it has not, or if the text is empty.
func (p *Parser) repeats(event sse.Event) bool {
	if !bytes.Equal(event.Name, p.again.name) {
		return false
	}
	values, ok := p.again.data.Match(event.Data)
	if !ok || len(values[0]) <= len(`""`) {
		return false
	}
	p.tell(p.again.item, p.again.part, values[0], &p.again.event)
	return true
}

// remember learns the shape of a delta that was read in full, if its text is all that
// it said. The number and the padding of every event differ.
func (p *Parser) remember(event sse.Event) {
	r := &p.read
	if p.sent != 1 || p.over || r.textAt == (jsonscan.Slot{}) {
		return
	}
	p.again.name = append(p.again.name[:0], event.Name...)
	p.again.data.Learn(event.Data, [jsonscan.MaxHoles]jsonscan.Slot{r.textAt, r.numberAt, r.padAt})
	p.again.event = p.event
	p.again.event.Text = nil
}
