package choices

import (
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Parser reads an answer into core events, a stream (wire format D.4, D.6) as
// well as a JSON body: what both formats share. Unlike an observer it refuses
// what it cannot read, since that cannot be relayed either.
type Parser struct {
	translate.Dropped

	content Teller
	handler event.Handler
	cursor  jsonscan.Cursor // in here so that a chunk costs no allocation
	event   event.Event
	text    []byte // memory of decoded texts

	turns   []part   // of the chunk at hand
	choices []choice // by index
	counts  counts
	usage   token.Usage
	again   template
	sent    int  // events of the chunk at hand
	started bool // EventStart was sent
	over    bool // nothing that follows counts
}

// Teller reads what is a format's own in a choice, and tells it as events.
type Teller interface {
	// Member reads a member of a choice of a chunk, whose name is the cursor's
	// and whose place among the choices of the chunk is nth. It consumes the
	// value; what it keeps of it stays valid until Tell, and what it has no words
	// for it drops.
	Member(p *Parser, c *jsonscan.Cursor, nth int)
	// Tell sends what the nth choice said, in the order of the format.
	Tell(p *Parser, nth int, choice Choice)
	// Repeated is told of an event that was sent without Tell, because its chunk
	// was like the one before but for the text.
	Repeated(e *event.Event)
	// End is the end of the answer: it tells what was held back until then, and
	// returns what is wrong with the whole.
	End(p *Parser) error
}

// Choice says which choice is told of.
type Choice struct {
	Index int
	Whole bool // it is of a JSON answer
	Ends  bool // it has told why it ended
}

// InChoice is the path of a choice's members, for what is dropped of them.
const InChoice = "choices[*]."

// part is what a chunk says of one choice.
type part struct {
	index  int64
	finish []byte // as it is written; nil for none
	stop   []byte
}

// choice is what is known of a choice.
type choice struct{ seen, finished, refused bool }

// maxChoices bounds the indexes of choices.
const maxChoices = 4096

var (
	errNoFirst = errors.New("no choice 0")
	errIndex   = fmt.Errorf("a choice beyond the first %d", maxChoices)
	errFinish  = errors.New("finish_reason error")
)

// NewParser returns a parser of one answer.
func NewParser(content Teller, h event.Handler) *Parser {
	return &Parser{content: content, handler: h}
}

// Event reads the next event of a stream.
func (p *Parser) Event(event sse.Event) {
	switch {
	case p.over || len(event.Data) == 0:
	case string(event.Data) == "[DONE]":
		p.end()
	case string(event.Name) == "error":
		p.Fail(dialect.ReadEvent(event.Data))
	case p.repeats(event.Data):
	default:
		p.chunk(event.Data, false)
	}
}

// Answer reads a whole JSON answer.
func (p *Parser) Answer(body []byte) {
	if p.over {
		return
	}
	p.chunk(body, true)
	p.end()
}

// End is the end of a stream's body.
func (p *Parser) End(clean bool) {
	switch {
	case p.over:
	case clean && p.Finished(1):
		p.end()
	default:
		p.Fail(fault.Truncated(nil))
	}
}

// Finished reports whether the first choices, as many as were asked for, and all
// others that were begun have told why they ended.
func (p *Parser) Finished(asked int) bool {
	for i := range p.choices {
		if c := &p.choices[i]; !c.finished && (c.seen || i < asked) {
			return false
		}
	}
	return len(p.choices) >= asked
}

// Choices is how many choices were begun.
func (p *Parser) Choices() (begun int) {
	for i := range p.choices {
		if p.choices[i].seen {
			begun++
		}
	}
	return begun
}

// Fail ends the answer with a fault.
func (p *Parser) Fail(fault *fault.Fault) {
	p.event = event.Event{Kind: event.Error, Fault: fault}
	p.Send()
	p.over = true
}

// end ends an answer that is complete. One in which nobody spoke is none.
func (p *Parser) end() {
	if p.over {
		return
	}
	if len(p.choices) == 0 || !p.choices[0].seen {
		p.Fail(fault.Unusable(errNoFirst))
		return
	}
	if err := p.content.End(p); err != nil {
		p.Fail(fault.Unusable(err))
		return
	}
	p.event = event.Event{Kind: event.End}
	p.Send()
	p.over = true
}

// chunk reads a chunk of a stream, or a whole answer, which is the same but
// for its messages. Nothing of it is told before all of it was read: it may
// turn out to be an error.
func (p *Parser) chunk(data []byte, whole bool) {
	e := heading{envelope: envelope{counts: p.counts}}
	p.turns, p.sent = p.turns[:0], 0
	dropped := p.Dropped
	p.again.forget()
	p.cursor = jsonscan.New(data)
	if err := p.read(&e); err != nil {
		p.Fail(fault.Unusable(err))
		return
	}
	if e.failed() {
		p.Dropped = dropped // what surrounds an error is no part of an answer
		p.Fail(p.embedded(data, whole))
		return
	}
	if whole {
		p.number()
	}
	p.tell(&e, whole)
	if p.again.pad = e.padding; p.sent == 1 && !p.over {
		p.again.learn(data, &p.event)
	}
}

// number numbers the choices of a whole answer.
func (p *Parser) number() {
	numberByPlace(len(p.turns), func(i int) *int64 { return &p.turns[i].index })
}

// numberByPlace numbers the n choices of a whole answer by their places where
// two have the same index: some servers give all of them 0, and each is an
// answer of its own.
func numberByPlace(n int, index func(i int) *int64) {
	if n < 2 {
		return
	}
	seen := make(map[int64]bool, n)
	for i := range n {
		seen[*index(i)] = true
	}
	if len(seen) == n {
		return
	}
	for i := range n {
		*index(i) = int64(i)
	}
}

// embedded reads an error that came in place of an answer.
func (p *Parser) embedded(data []byte, whole bool) *fault.Fault {
	if whole {
		return fault.ReadAnswer(data)
	}
	return dialect.ReadEvent(data)
}

// read reads a document. A member that stands twice is an error here: nobody
// can say which of the two was meant.
func (p *Parser) read(e *heading) error {
	c := &p.cursor
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoObject, c.Finish())
	}
	for c.Member() {
		if !e.member(c, p.turn) {
			p.DropMember("", c)
		}
	}
	return c.Finish()
}

// turn reads one element of the choices.
func (p *Parser) turn() {
	c := &p.cursor
	if !c.EnterObject() {
		if !jsonscan.Blank(c.Skip()) {
			p.Drop("choices[*]")
		}
		return
	}
	nth := len(p.turns)
	t := part{index: int64(nth)}
	for c.Member() {
		switch string(c.Name()) {
		case "index":
			t.index = Count(c)
		case "finish_reason":
			t.finish = c.StringOrSkip()
		case "stop_reason":
			t.stop = c.StringOrSkip()
		default:
			p.content.Member(p, c, nth)
		}
	}
	p.turns = append(p.turns, t)
}

// tell sends what a chunk says.
func (p *Parser) tell(e *heading, whole bool) {
	counted := e.counted() || whole && e.hasUsage
	if counted {
		p.counts, p.usage = e.counts, e.counts.usage()
	}
	p.start(e)
	for nth := range p.turns {
		if p.over {
			return
		}
		p.tellChoice(nth, whole)
	}
	if counted {
		p.event = event.Event{Kind: event.Usage, Usage: &p.usage, Tier: e.tier()}
		p.Send()
	}
}

// start sends the start, once: with the first chunk that speaks or names a
// model. Some servers send one about the prompt before.
func (p *Parser) start(e *heading) {
	if p.started || len(p.turns) == 0 && len(e.model) <= len(`""`) {
		return
	}
	p.started = true
	p.event = event.Event{
		Kind: event.Start, Model: []byte(e.name()), Created: e.created, Usage: &p.usage, Tier: e.tier(),
	}
	p.Send()
}

// tellChoice sends what a chunk says of one choice: its content first, then,
// once, why it ended.
func (p *Parser) tellChoice(nth int, whole bool) {
	t := &p.turns[nth]
	if t.index >= maxChoices {
		p.Fail(fault.Unusable(errIndex))
		return
	}
	index := int(t.index)
	for len(p.choices) <= index {
		p.choices = append(p.choices, choice{})
	}
	p.choices[index].seen = true
	ends := len(t.finish) > len(`""`)
	p.content.Tell(p, nth, Choice{Index: index, Whole: whole, Ends: ends})
	if ends && !p.over {
		p.finish(index, t)
	}
}

// finish sends why a choice ended; the first word wins.
func (p *Parser) finish(index int, t *part) {
	c := &p.choices[index]
	word := string(jsonscan.AppendText(nil, t.finish))
	if word == "error" {
		p.Fail(fault.Unusable(errFinish))
		return
	}
	if c.finished {
		return
	}
	c.finished = true
	reason := ReadFinishReason(word)
	if reason == event.FinishUnknown {
		p.Drop(InChoice + "finish_reason")
	}
	if c.refused {
		reason = event.FinishRefused
	}
	p.event = event.Event{Kind: event.Finish, Choice: index, Finish: reason, Stop: p.stop(t)}
	p.Send()
}

// stop is the stop sequence that ended a choice, nil when none is told.
func (p *Parser) stop(t *part) []byte {
	if len(t.stop) <= len(`""`) {
		return nil
	}
	p.text = jsonscan.AppendText(p.text[:0], t.stop)
	return p.text
}
