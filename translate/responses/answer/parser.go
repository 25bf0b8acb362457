package answer

import (
	"bytes"
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
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
	outputs outputs
	reading reading
	item    item // of the event
	waiting waiting
	report  token.Report // of the last usage objects
	usage   token.Usage

	finished bool // the event Finish was sent
}

var errStatus = errors.New("the end of a response that is not complete")

// NewParser returns a parser of one answer.
func NewParser(h event.Handler) *Parser {
	p := &Parser{}
	p.outputs.sent = sent{next: h, usage: &p.usage}
	p.outputs.Sender = event.NewSender(&p.outputs.sent)
	return p
}

// Finished reports whether the reason why the only turn ended is known.
func (p *Parser) Finished(int) bool { return p.finished }

// Choices returns 1, the number of choices of every answer.
func (p *Parser) Choices() int { return 1 }

// Losses returns the parts of the answer that core events cannot express.
func (p *Parser) Losses() translate.Losses { return p.outputs.Losses() }

// Event reads the next event of a stream.
func (p *Parser) Event(e sse.Event) {
	o, r := &p.outputs, &p.reading
	if o.Over() || o.Repeat(e.Name, e.Data) != nil || string(e.Data) == "[DONE]" {
		return
	}
	o.Begin()
	name, kind, dropped := e.Name, eventKindOf(e.Name), o.Dropped
	if err := r.readEvent(e.Data, &o.Dropped); err != nil {
		switch {
		case len(name) == 0 || kind.known():
			o.Fail(fault.Unusable(err))
		case kind.step == unknownStep: // which may have any data
			p.dropEvent(name)
		}
		return
	}
	if len(name) == 0 {
		name = jsonscan.DecodedOf(r.event.Raw(eventType))
		kind = eventKindOf(name)
	}
	if kind.step == failStep || r.isError() {
		o.Dropped = dropped // the members around an error are not part of an answer
		o.Fail(readFault(e.Data))
		return
	}
	if !kind.known() {
		o.Dropped = dropped
		p.unknownEvent(kind, name)
		return
	}
	s := p.subject(&kind)
	if p.mustWait(kind.step, s) {
		o.Dropped = dropped // the event is read again
		if err := p.waiting.add(s.index, sse.Event{Name: name, Data: e.Data}); err != nil {
			o.Fail(fault.Unusable(err))
		}
		return
	}
	p.step(kind, s)
	if kind.step == deltaStep {
		o.Learn(e, r.event.At(eventNumber), r.event.At(eventPadding))
		return
	}
	p.release(false)
}

// unknownEvent reports an unknown event as dropped. An unknown event about an item belongs
// to a tool of the vendor, whose item is reported instead.
func (p *Parser) unknownEvent(kind eventKind, name []byte) {
	switch {
	case kind.step == quietStep:
	case len(name) == 0:
		p.outputs.Fail(fault.Unusable(errNoType))
	case p.reading.index(eventOutput) < 0:
		p.dropEvent(name)
	}
}

func (p *Parser) dropEvent(name []byte) {
	p.outputs.DropNamed(inEvent, bytes.TrimPrefix(name, []byte("response.")))
}

// subject returns what identifies the item of the current event, whose item it reads. It
// replaces the text of an event that ends a part by that of the part's type.
func (p *Parser) subject(kind *eventKind) subject {
	v := &p.reading.event
	s := subject{index: p.reading.index(eventOutput), id: v.Raw(eventItemID)}
	switch kind.step {
	case addItemStep, endItemStep:
		p.outputs.readItem(&p.item, v.Raw(eventItem))
		s.kind, s.id = kindOf(p.item.kind), p.item.id()
		return s
	case endPartStep:
		c := jsonscan.Skipped(v.Raw(eventPart))
		if t := partSources[string(jsonscan.Inner(c.TypeAhead()))]; t != nil {
			kind.text = t
		}
	}
	if kind.text != nil {
		s.kind = kind.text.item
	}
	return s
}

// mustWait reports whether an event about an item has to wait for the end of the open item.
func (p *Parser) mustWait(step step, s subject) bool {
	last, others := p.outputs.last, len(p.waiting.queues) > 0
	if last == nil || len(last.id) == 0 || s.index < 0 || s.index == last.index || s.kind == unknownItem {
		return false
	}
	it := p.outputs.find(s)
	if s.kind.isCall() {
		return it == nil && others
	}
	return (step != addItemStep || others) && (it == nil || it != last && !it.ended)
}

// release reads the events that have waited, item by item, while no item is open. At the
// end of the answer it reads all of them: items that have not ended end where the next one
// begins.
func (p *Parser) release(all bool) {
	o := &p.outputs
	for len(p.waiting.queues) > 0 && !o.Over() {
		switch {
		case o.last == nil:
		case all:
			o.close(o.last)
		default:
			return
		}
		for _, e := range p.waiting.next() {
			if o.Over() || p.reading.readEvent(e.Data, &o.Dropped) != nil {
				continue
			}
			kind := eventKindOf(e.Name)
			s := p.subject(&kind)
			if it := o.find(s); it == nil || !it.whole { // found in the whole response, an item needs no more events
				p.step(kind, s)
			}
		}
	}
}

// step sends the core events of an event about a response or an item.
func (p *Parser) step(kind eventKind, s subject) {
	r := &p.reading
	switch kind.step {
	case headStep:
		p.start(&r.response)
		p.sendUsage(&r.response)
	case completeStep, incompleteStep:
		p.complete(kind.step == incompleteStep, false)
	case addItemStep:
		p.addItem(s)
	case endItemStep:
		p.endItem(s)
	case addPartStep:
	default:
		p.text(kind, s)
	}
}

// text sends the core events of an event about a text.
func (p *Parser) text(kind eventKind, s subject) {
	o, v := &p.outputs, &p.reading.event
	index, scores := max(0, p.reading.index(kind.text.index)), v.Raw(eventScores)
	var whole members.Values
	if kind.step == endPartStep && !o.readPart(&whole, v.Raw(eventPart), kind.text) {
		return
	}
	it := o.withText(s, kind.text)
	if it == nil {
		return
	}
	switch kind.step {
	case deltaStep:
		if pt := o.fragment(it, index, v.Raw(eventText), v.At(eventText), kind.text.event); pt != nil {
			o.score(pt, scores, false)
		}
	case wholeStep:
		if pt := o.rest(it, index, v.Raw(eventText), kind.text.event); pt != nil {
			o.score(pt, scores, true)
		}
	case endPartStep:
		if it.kind == messageItem {
			o.message(it, index, &whole)
		} else {
			o.rest(it, index, whole.Raw(partText), kind.text.event)
		}
	case annotateStep:
		if pt := o.part(it, index); pt != nil {
			o.source(pt, v.Raw(eventAnnotation))
		}
	}
}

// addItem adds the item of the current event. It replaces an earlier item with the same
// index, since some servers never end items.
func (p *Parser) addItem(s subject) {
	o := &p.outputs
	it := o.at(s)
	if it != nil && (it.ended || it.kind != s.kind || it.differs(s.id)) {
		o.close(it)
		it.index = -1
		it = nil
	}
	if it == nil {
		it = o.add(s)
	}
	if it != nil {
		o.begin(it, &p.item)
	}
}

// endItem sends the rest of the item of the current event, ends the item, and counts it if
// it is a search.
func (p *Parser) endItem(s subject) {
	o := &p.outputs
	if string(jsonscan.Inner(p.item.kind)) == searchType {
		if l := labelOf(p.reading.event.Raw(eventItem)); l.isSearch() {
			p.report.Searches++
			if o.sent.started {
				p.sendUsage(&p.reading.response)
			}
		}
	}
	it := o.find(s)
	if it == nil || it.kind != s.kind {
		it = o.add(s)
	}
	if it != nil {
		o.end(it, &p.item)
	}
}

// Answer reads a whole JSON answer.
func (p *Parser) Answer(body []byte) {
	o, v := &p.outputs, &p.reading.response
	err := p.reading.readAnswer(body, &o.Dropped)
	switch {
	case err != nil:
		o.Fail(fault.Unusable(err))
	case v.isFault():
		o.Dropped = translate.Dropped{}
		o.Fail(v.readFault(body))
	case !v.hasOutput():
		o.Fail(fault.Unusable(errNoOutput))
	default:
		o.Send(event.Event{Kind: event.Native, Text: body})
		p.complete(false, true)
	}
}

// End ends the body of a stream. It never completes an answer, which only the last event
// of the format does.
func (p *Parser) End(bool) { p.outputs.Fail(fault.Truncated(nil)) }

// start sends the start of the answer, once.
func (p *Parser) start(v *response) {
	if !p.outputs.sent.started {
		p.outputs.Send(event.Event{
			Kind: event.Start, Model: jsonscan.AppendText(nil, v.Raw(responseModel)), Created: token.CountOf(v.Raw(responseCreated)),
			Usage: &p.usage, Tier: v.tier(),
		})
	}
}

// sendUsage sends the usage so far, if there is any.
func (p *Parser) sendUsage(v *response) {
	v.count(&p.report)
	if p.usage = p.usage.Then(p.report.Usage()); p.usage.Known || p.usage.Searches > 0 {
		p.outputs.Send(event.Event{Kind: event.Usage, Usage: &p.usage, Tier: v.tier()})
	}
}

// complete ends an answer: it sends the rest of its items, the usage and the reason why it
// ended. The status takes precedence over the name of the event, since some servers end
// every stream with response.completed. whole reports that the answer is JSON.
func (p *Parser) complete(cut, whole bool) {
	o, v := &p.outputs, p.reading.response // events that have waited replace that of the reading
	if v.isFault() {
		o.Dropped = translate.Dropped{}
		o.Fail(readFault(v.Object()))
		return
	}
	if !v.ended() {
		o.Fail(fault.Unusable(errStatus))
		return
	}
	p.start(&v)
	if v.hasOutput() { // the end of a stream may omit the items
		c := v.Cursor(responseOutput)
		c.OpenArray()
		for i := int64(0); c.Element() && !o.Over(); i++ {
			p.wholeItem(i, c.Skip(), whole)
		}
	}
	p.release(true)
	cut = cut || v.is(incomplete)
	for _, it := range o.list { // some servers do not end them
		it.cut = it.cut || cut
		o.close(it)
	}
	p.sendUsage(&v)
	reason := event.FinishStop
	switch {
	case cut && string(v.reason()) == "content_filter":
		reason = event.FinishFiltered
	case cut:
		reason = event.FinishLength
	case o.refused:
		reason = event.FinishRefused
	case o.calls > 0:
		reason = event.FinishTools
	}
	p.finished = true
	o.Send(event.Event{Kind: event.Finish, Finish: reason})
	o.Send(event.Event{Kind: event.End})
}

// wholeItem sends the rest of an item of a whole response: of the item that was streamed,
// or of a new one.
func (p *Parser) wholeItem(index int64, raw []byte, native bool) {
	o, l := &p.outputs, labelOf(raw)
	s := subject{l.kind(), index, l.id()}
	it := o.streamed(s)
	if it == nil {
		if it = o.add(s); it == nil {
			return
		}
	}
	it.whole = true
	if it.ended {
		return
	}
	if native {
		o.Send(event.Event{Kind: event.Native, Text: raw})
	}
	if o.readItem(&p.item, raw) {
		o.end(it, &p.item)
	}
}
