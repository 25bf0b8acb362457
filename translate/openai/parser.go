package openai

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

// Parser reads an answer into core events, a stream (wire format D.4, D.6) as well as a
// JSON body. It is the part of the parsers that both formats share. Unlike an Observer,
// a Parser refuses an answer that it cannot read, since such an answer cannot be
// translated.
type Parser struct {
	translate.Dropped

	content ChoiceParser
	handler event.Handler
	cursor  jsonscan.Cursor // a field, so that a chunk costs no allocation
	event   event.Event
	text    []byte // memory of decoded texts

	parts    []chunkChoice // of the current chunk
	choices  []choice      // by index
	counts   token.Report
	usage    token.Usage
	template template
	sent     int  // events of the current chunk
	started  bool // EventStart was sent
	over     bool // all later events are ignored
}

// ChoiceParser is the part of a parser that depends on the format: it reads the choices
// of chunks and sends their events.
type ChoiceParser interface {
	// ReadMember consumes the value of a member of the nth choice of a chunk; the cursor
	// has its name. The slices that the implementation keeps are valid until
	// SendChoice. It reports members that the core events cannot express as dropped.
	ReadMember(p *Parser, c *jsonscan.Cursor, nth int)
	// SendChoice sends the events of the nth choice, in the order of the format.
	SendChoice(p *Parser, nth int, choice Choice)
	// Repeated is called for an event that was sent without SendChoice, because its
	// chunk differs from the one before only in the text.
	Repeated(e *event.Event)
	// End ends the answer: it sends the events that were held back, and returns an
	// error if the answer as a whole is invalid.
	End(p *Parser) error
}

// Choice identifies the choice whose events are sent.
type Choice struct {
	Index int
	Whole bool // the choice is part of a JSON answer
	Ends  bool // the choice has a finish_reason
}

// InChoice is the path of a choice's members, for reports of dropped ones.
const InChoice = "choices[*]."

// chunkChoice is the part of a chunk that belongs to one choice.
type chunkChoice struct {
	index  int64
	finish []byte // raw; nil for none
	stop   []byte
}

// choice is the state of a choice.
type choice struct{ seen, finished, refused bool }

// maxChoices bounds the indexes of choices.
const maxChoices = 4096

var (
	errNoFirst = errors.New("no choice 0")
	errIndex   = fmt.Errorf("a choice beyond the first %d", maxChoices)
	errFinish  = errors.New("finish_reason error")
)

// NewParser returns a parser of one answer.
func NewParser(content ChoiceParser, h event.Handler) *Parser {
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

// End ends the body of a stream.
func (p *Parser) End(clean bool) {
	switch {
	case p.over:
	case clean && p.Finished(1):
		p.end()
	default:
		p.Fail(fault.Truncated(nil))
	}
}

// Finished reports whether all choices have a finish_reason: those that were asked for,
// and any others that have begun.
func (p *Parser) Finished(asked int) bool {
	for i := range p.choices {
		if c := &p.choices[i]; !c.finished && (c.seen || i < asked) {
			return false
		}
	}
	return len(p.choices) >= asked
}

// Choices returns the number of choices that have begun.
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

// end ends a complete answer. An answer without choices is a fault.
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

// chunk reads a chunk of a stream, or a whole answer, which differs only in its
// messages. It sends events only after reading the whole document, which may turn out
// to be an error.
func (p *Parser) chunk(data []byte, whole bool) {
	e := answerEnvelope{envelope: envelope{counts: p.counts}}
	p.parts, p.sent = p.parts[:0], 0
	dropped := p.Dropped
	p.template.forget()
	p.cursor = jsonscan.New(data)
	if err := p.read(&e); err != nil {
		p.Fail(fault.Unusable(err))
		return
	}
	if e.failed() {
		p.Dropped = dropped // the members around an error are not part of an answer
		p.Fail(p.embedded(data, whole))
		return
	}
	if whole {
		p.number()
	}
	p.sendChunk(&e, whole)
	if p.template.pad = e.padding; p.sent == 1 && !p.over {
		p.template.learn(data, &p.event)
	}
}

// number numbers the choices of a whole answer.
func (p *Parser) number() {
	numberByPosition(len(p.parts), func(i int) *int64 { return &p.parts[i].index })
}

// numberByPosition numbers the n choices of a whole answer by their position if two have
// the same index: some servers give index 0 to all of them.
func numberByPosition(n int, index func(i int) *int64) {
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

// embedded returns the fault of an error that was sent in place of an answer.
func (p *Parser) embedded(data []byte, whole bool) *fault.Fault {
	if whole {
		return fault.ReadAnswer(data)
	}
	return dialect.ReadEvent(data)
}

// read reads a document. A repeated member is an error, since its value is ambiguous.
func (p *Parser) read(e *answerEnvelope) error {
	c := &p.cursor
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoObject, c.Finish())
	}
	for c.Member() {
		if !e.member(c, p.readChoice) {
			p.DropMember("", c)
		}
	}
	return c.Finish()
}

// readChoice reads one element of the choices.
func (p *Parser) readChoice() {
	c := &p.cursor
	if !c.EnterObject() {
		if !jsonscan.Blank(c.Skip()) {
			p.Drop("choices[*]")
		}
		return
	}
	nth := len(p.parts)
	t := chunkChoice{index: int64(nth)}
	for c.Member() {
		switch string(c.Name()) {
		case "index":
			t.index = Count(c)
		case "finish_reason":
			t.finish = c.StringOrSkip()
		case "stop_reason":
			t.stop = c.StringOrSkip()
		default:
			p.content.ReadMember(p, c, nth)
		}
	}
	p.parts = append(p.parts, t)
}

// sendChunk sends the events of a chunk.
func (p *Parser) sendChunk(e *answerEnvelope, whole bool) {
	counted := e.counted() || whole && e.hasUsage
	p.counts.Terms = e.counts.Terms
	if counted {
		p.counts, p.usage = e.counts, p.usage.Then(e.counts.Usage())
	}
	p.start(e)
	for nth := range p.parts {
		if p.over {
			return
		}
		p.sendChoice(nth, whole)
	}
	if counted {
		p.event = event.Event{Kind: event.Usage, Usage: &p.usage, Tier: e.tier()}
		p.Send()
	}
}

// start sends the start event, once: with the first chunk that has a choice or names a
// model. Some servers send a chunk about the prompt before.
func (p *Parser) start(e *answerEnvelope) {
	if p.started || len(p.parts) == 0 && len(e.model) <= len(`""`) {
		return
	}
	p.started = true
	p.event = event.Event{
		Kind: event.Start, Model: []byte(e.name()), Created: e.created, Usage: &p.usage, Tier: e.tier(),
	}
	p.Send()
}

// sendChoice sends the events of one choice of a chunk: its content first, then, once,
// its finish.
func (p *Parser) sendChoice(nth int, whole bool) {
	t := &p.parts[nth]
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
	p.content.SendChoice(p, nth, Choice{Index: index, Whole: whole, Ends: ends})
	if ends && !p.over {
		p.finish(index, t)
	}
}

// finish sends the reason why a choice ended. Later reasons are ignored.
func (p *Parser) finish(index int, t *chunkChoice) {
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

// stop returns the stop sequence that ended a choice, nil for none.
func (p *Parser) stop(t *chunkChoice) []byte {
	if len(t.stop) <= len(`""`) {
		return nil
	}
	p.text = jsonscan.AppendText(p.text[:0], t.stop)
	return p.text
}
