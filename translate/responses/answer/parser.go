package answer

import (
	"bytes"
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
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
	singleanswer.Parser
	outputs outputs
	reading reading
	item    item // of the event
	waiting waiting
	failed  *fault.Fault // of a response that has failed, while a better reason may follow
}

// words are the words of the format for what all answers state.
var words = singleanswer.Words{Usage: openai.UsageRows}

var errStatus = errors.New("the end of a response that is not complete")

// NewParser returns a parser of one answer.
func NewParser(h event.Handler) *Parser {
	p := &Parser{}
	p.Init(&words, h)
	p.outputs.events, p.outputs.Dropped = &p.Events, &p.Dropped
	return p
}

// Event reads the next event of a stream.
func (p *Parser) Event(e sse.Event) {
	switch {
	case p.Events.Over():
		return
	case e.IsDone():
		p.fail()
		return
	}
	if repeated := p.Events.Repeat(e.Name, e.Data); repeated != nil {
		p.outputs.part.add(repeated.Text)
		return
	}
	p.Events.Begin()
	r, name, kind, dropped := &p.reading, e.Name, eventKindOf(e.Name), p.Dropped
	if err := r.read(e.Data, events, &p.Dropped); err != nil {
		switch {
		case len(name) == 0 || kind.known():
			p.Events.Refuse(err)
		case kind.step == unknownStep: // which may have any data
			p.dropEvent(name)
		}
		return
	}
	if len(name) == 0 {
		name = r.name()
		kind = eventKindOf(name)
	}
	if kind.step == failingStep || kind.step == failStep || r.isError() {
		p.Dropped = dropped // the members around an error are not part of an answer
		f := Dialect.ReadEvent(e.Data)
		if kind.step != failingStep {
			p.Events.Fail(f)
		} else if p.failed == nil {
			p.failed = f
			p.Events.Send(event.Event{Kind: event.Failing})
		}
		return
	}
	if p.failed != nil {
		p.Dropped = dropped
		return
	}
	if !kind.known() {
		p.Dropped = dropped
		p.unknownEvent(kind, name)
		return
	}
	s := p.subject(&kind)
	if p.mustWait(kind.step, s) {
		p.Dropped = dropped // the event is read again
		p.Events.Refuse(p.waiting.add(s.index, sse.Event{Name: name, Data: e.Data}))
		return
	}
	p.step(kind, s)
	if kind.step == deltaStep {
		p.Events.Learn(e, r.At(eventNumber), r.At(eventPadding))
		return
	}
	p.release(false)
}

// fail ends an answer that has failed, since nothing follows that states why.
func (p *Parser) fail() {
	if p.failed != nil {
		p.Events.Fail(p.failed)
	}
}

// End ends the body of a stream.
func (p *Parser) End(clean bool) {
	p.fail()
	p.Parser.End(clean)
}

// unknownEvent reports an unknown event as dropped. An unknown event about an item belongs
// to a tool of the vendor, whose item is reported instead.
func (p *Parser) unknownEvent(kind eventKind, name []byte) {
	switch {
	case kind.step == quietStep:
	case bytes.HasPrefix(name, []byte("response.audio.")): // which may name an item
		p.DropContent(inEvent + "audio")
	case len(name) == 0:
		p.Events.Refuse(errNoType)
	case p.reading.index(eventOutput) < 0:
		p.dropEvent(name)
	}
}

func (p *Parser) dropEvent(name []byte) {
	p.DropNamed(inEvent, bytes.TrimPrefix(name, []byte("response.")))
}

// subject returns what identifies the item of the current event, whose item it reads. It
// replaces the text of an event that ends a part by that of the part's type.
func (p *Parser) subject(kind *eventKind) subject {
	r := &p.reading
	s := subject{index: r.index(eventOutput), id: r.Raw(eventItemID)}
	switch kind.step {
	case addItemStep, endItemStep:
		p.outputs.readItem(&p.item, r.Raw(eventItem))
		s.kind, s.id = kindOf(p.item.kind), p.item.id()
		return s
	case endPartStep:
		c := jsonscan.Skipped(r.Raw(eventPart))
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
	last, others := p.outputs.last, len(p.waiting.events) > 0
	if last == nil || len(last.id) == 0 || s.index < 0 || s.index == last.index || s.kind == unknownItem || s.kind == imageItem {
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
	for len(p.waiting.events) > 0 && !p.Events.Over() {
		switch {
		case o.last == nil:
		case all:
			o.close(o.last)
		default:
			return
		}
		for _, e := range p.waiting.next() {
			if p.Events.Over() || p.reading.read(e.Data, events, &p.Dropped) != nil {
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
	o, r := &p.outputs, &p.reading
	switch kind.step {
	case headStep:
		p.head()
		p.SendUsage()
	case completeStep, incompleteStep:
		p.complete(kind.step == incompleteStep, false)
	case addItemStep:
		p.addItem(s)
	case endItemStep:
		p.endItem(s)
	case endPartStep:
		if o.readPart(r.Raw(eventPart), kind.text) {
			if it := o.withText(s, kind.text); it != nil {
				o.restOf(it, p.place(kind.text))
			}
		}
	case deltaStep, wholeStep, annotateStep:
		if it := o.withText(s, kind.text); it != nil {
			p.text(it, kind)
		}
	}
}

// place returns the index of the part of the current event.
func (p *Parser) place(t *textSource) int64 { return max(0, p.reading.index(t.index)) }

// text sends the core events of an event about a text of an item.
func (p *Parser) text(it *output, kind eventKind) {
	o, r, index := &p.outputs, &p.reading, p.place(kind.text)
	var pt *part // nil after a fault
	switch kind.step {
	case deltaStep:
		pt = o.fragment(it, index, r.Raw(eventText), r.At(eventText), kind.text.event)
	case wholeStep:
		pt = o.rest(it, index, r.Raw(eventText), kind.text.event)
	case annotateStep:
		if pt = o.partAt(it, index); pt != nil {
			o.source(pt, r.Raw(eventAnnotation))
		}
		return
	}
	if pt != nil {
		o.score(pt, r.Raw(eventScores), kind.step == wholeStep)
	}
}

// addItem adds the item of the current event. It replaces an earlier item with the same
// index, since some servers never end items.
func (p *Parser) addItem(s subject) {
	o := &p.outputs
	it := o.outputOf(s)
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
		if v := identify(p.reading.Raw(eventItem)); v.isSearch() {
			p.Report.Searches++
			p.SendUsage()
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
	r := &p.reading
	switch err := r.read(body, responses, &p.Dropped); {
	case err != nil:
		p.Events.Refuse(err)
	case r.isFault():
		p.Dropped = translate.Dropped{}
		p.Events.Fail(r.fault())
	case !r.hasOutput():
		p.Events.Refuse(errNoOutput)
	default:
		p.Events.Send(event.Event{Kind: event.Native, Text: body})
		p.complete(false, true)
	}
}

// head sends the beginning of the answer, once, and reads what the response states beside
// its items.
func (p *Parser) head() {
	r := &p.reading
	p.ReadTier(r.Raw(responseTier), "service_tier")
	p.Start(jsonscan.AppendText(nil, r.Raw(responseModel)), token.CountOf(r.Raw(responseCreated)))
	r.count(&p.Report)
}

// complete ends an answer: it sends the rest of its items, the usage and the reason why it
// ended. The status takes precedence over the name of the event, since some servers end
// every stream with response.completed. native reports that the answer is JSON.
func (p *Parser) complete(cut, native bool) {
	o, r := &p.outputs, &p.reading
	switch {
	case r.isFault():
		p.Dropped = translate.Dropped{}
		p.Events.Fail(Dialect.ReadEvent(r.Object()))
		return
	case r.failure() != nil:
		p.head()
		p.SendUsage()
		p.Events.Fail(r.failure())
		return
	case !r.ended():
		p.Events.Refuse(errStatus)
		return
	}
	p.head()
	cut = cut || r.is(incomplete)
	end := bytes.Clone(jsonscan.DecodedOf(r.Raw(responseReason)))
	if r.hasOutput() { // the end of a stream may omit the items
		c := r.Cursor(responseOutput)
		c.OpenArray()
		for i := int64(0); c.Element() && !p.Events.Over(); i++ {
			p.wholeItem(i, c.Skip(), native)
		}
	}
	p.release(true)
	for _, it := range o.list { // some servers do not end them
		it.cut = it.cut || cut
		o.close(it)
	}
	p.SendUsage()
	p.SendFinish(event.Event{Finish: o.reason(cut, end)})
	p.Events.Complete()
}

// wholeItem sends the rest of an item of a whole response: of the item that was streamed,
// or of a new one.
func (p *Parser) wholeItem(index int64, raw []byte, native bool) {
	o, v := &p.outputs, identify(raw)
	s := subject{kindOf(v.kind), index, v.id()}
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
		p.Events.Send(event.Event{Kind: event.Native, Text: raw})
	}
	o.readItem(&p.item, raw)
	o.end(it, &p.item)
}
