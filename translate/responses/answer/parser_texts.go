package answer

import (
	"bytes"
	"hash/maphash"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// locate returns the item and the index of the part of an event with a text, and the core
// event for the text. The item is nil if the text is not to be sent.
func (p *Parser) locate(kind eventKind) (it *output, index int64, e event.Event) {
	switch kind {
	case textDelta, textDone:
		return p.itemOf(messageItem), p.read.content, textEvent
	case refusalDelta, refusalDone:
		return p.itemOf(messageItem), p.read.content, refusalEvent
	case summaryDelta, summaryDone:
		return p.reasoningOf(false), p.read.summary, reasoningEvent
	case thoughtDelta, thoughtDone:
		return p.reasoningOf(true), p.read.content, reasoningEvent
	case argumentsDelta, argumentsDone:
		it = p.itemOf(callItem)
	default:
		it = p.itemOf(freeCallItem)
	}
	if it == nil {
		return nil, 0, e
	}
	if it.deferred = it.deferred || !it.begun; it.deferred {
		return nil, 0, e
	}
	return it, 0, event.Event{Kind: event.ToolArgs, Tool: it.tool}
}

// The core events of texts, without the text.
var (
	textEvent      = event.Event{Kind: event.Text}
	refusalEvent   = event.Event{Kind: event.Text, Refusal: true}
	reasoningEvent = event.Event{Kind: event.Reasoning}
)

// reasoningOf returns the item of reasoning of the current event. content reports that the
// event belongs to the item's list content instead of summary. The two lists usually have
// the same texts, so only the first one is sent: the item is nil for the other.
func (p *Parser) reasoningOf(content bool) *output {
	it := p.itemOf(reasoningItem)
	switch {
	case it == nil:
		return nil
	case len(it.parts) == 0:
		it.inContent = content
	case it.inContent != content:
		p.Drop(it.otherList())
		return nil
	}
	return it
}

// otherList returns the path of the list of a reasoning item that is not sent.
func (it *output) otherList() string {
	if it.inContent {
		return inItem + "summary"
	}
	return inItem + "content"
}

// delta sends the text of a delta.
func (p *Parser) delta(kind eventKind) {
	it, index, e := p.locate(kind)
	switch {
	case it == nil:
		return
	case it.left && e.Kind != event.ToolArgs:
		p.fail(fault.Unusable(errInterleaved))
		return
	}
	if pt := p.part(it, index); pt != nil {
		p.sendString(it, pt, p.read.text, &e)
		p.sendLogprobs(pt, p.read.logprobs)
	}
}

// endText sends the rest of the whole text in the current event.
func (p *Parser) endText(kind eventKind) {
	it, index, e := p.locate(kind)
	if it == nil {
		return
	}
	if pt := p.sendRest(it, index, p.read.text, &e); pt != nil && !pt.hasLogprobs {
		p.sendLogprobs(pt, p.read.logprobs)
	}
}

// sendString sends a raw string as a text of a part, unless the string is empty.
func (p *Parser) sendString(it *output, pt *part, raw []byte, e *event.Event) {
	if len(raw) <= len(`""`) {
		return
	}
	p.text = jsonscan.AppendText(p.text[:0], raw)
	p.sendText(it, pt, p.text, e)
}

func (p *Parser) sendText(it *output, pt *part, text []byte, e *event.Event) {
	p.begin()
	if e.Kind != event.ToolArgs {
		p.enter(it)
		e.Part = int(pt.index)
		p.refused = p.refused || e.Refusal
	}
	pt.sent += len(text)
	pt.hash.Write(text)
	p.template.item, p.template.part = it, pt
	e.Text = text
	p.send(*e)
}

// sendRest sends the rest of the whole text of a part. A whole text that does not begin
// with the text already sent is dropped, since that text cannot be taken back. sendRest
// returns nil after a fault.
func (p *Parser) sendRest(it *output, index int64, raw []byte, e *event.Event) *part {
	pt := p.part(it, index)
	if pt == nil || raw == nil || pt.checked == pt.sent && jsonscan.TextLen(raw) == pt.sent {
		return pt
	}
	p.text = jsonscan.AppendText(p.text[:0], raw)
	sent := min(pt.sent, len(p.text))
	if sent < pt.sent || maphash.Bytes(seed, p.text[:sent]) != pt.hash.Sum64() {
		p.Drop(lostText)
		return pt
	}
	if len(p.text) > sent && it.left {
		p.Drop(lostText)
		return pt
	}
	if len(p.text) > sent {
		p.sendText(it, pt, p.text[sent:], e)
	}
	pt.checked = pt.sent
	return pt
}

// lostText is the path of whole texts that contradict the deltas.
const lostText = "event.*.text"

// sendLogprobs sends the log probabilities of the preceding text.
func (p *Parser) sendLogprobs(pt *part, raw []byte) {
	if jsonscan.Blank(raw) {
		return
	}
	pt.hasLogprobs = true
	p.scores = jsonscan.AppendCompact(p.scores[:0], raw)
	p.send(event.Event{Kind: event.Logprobs, Logprobs: p.scores})
}

// template is the shape of a delta that became one event with a text. Most deltas of a
// part differ from the one before only in that text, the sequence number and the padding.
// A delta of the same shape becomes the same event with another text.
type template struct {
	name  []byte // of the event
	data  jsonscan.Template
	event event.Event
	item  *output
	part  *part
}

// repeats sends the text of a delta that has the shape of the one before. It reports
// false, and does nothing, if the shape is another, or if the text is empty.
func (p *Parser) repeats(event sse.Event) bool {
	if !bytes.Equal(event.Name, p.template.name) {
		return false
	}
	values, ok := p.template.data.Match(event.Data)
	if !ok || len(values[0]) <= len(`""`) {
		return false
	}
	p.sendString(p.template.item, p.template.part, values[0], &p.template.event)
	return true
}

// remember keeps the shape of the current delta if it became only one event with its text.
func (p *Parser) remember(event sse.Event) {
	r := &p.read
	if p.sent != 1 || p.over || r.textAt == (jsonscan.Slot{}) {
		return
	}
	p.template.name = append(p.template.name[:0], event.Name...)
	p.template.data.Learn(event.Data, [jsonscan.MaxHoles]jsonscan.Slot{r.textAt, r.numberAt, r.padAt})
	p.template.event = p.event
	p.template.event.Text = nil
}
