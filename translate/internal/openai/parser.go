package openai

import (
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Parser reads an answer into core events, a stream (wire format D.4, D.6) as well as a
// JSON body. It is the part of the parsers that both formats share. Unlike an Observer,
// a Parser refuses an answer that it cannot read, since such an answer cannot be
// translated.
type Parser struct {
	translate.Dropped
	Events event.Sender

	table    *members.Table // of choices
	content  ChoiceParser
	chunk    document
	report   token.Report     // of all chunks
	parts    []members.Values // the choices of the chunk
	progress progress
	usage    token.Usage
	tier     event.Tier // of the chunk
	started  bool       // the event Start was sent
}

// ChoiceParser is the part of a parser that depends on the format: it sends the events of
// choices.
type ChoiceParser interface {
	// SendChoice sends the events of a choice of a chunk, in the order of the format. It
	// reports members that the core events cannot express as dropped.
	SendChoice(p *Parser, members *members.Values, choice Choice)
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

// maxChoices bounds the choices of a chunk, and their indexes.
const maxChoices = 4096

var (
	errNoFirst = errors.New("no choice 0")
	errIndex   = fmt.Errorf("a choice beyond the first %d", maxChoices)
)

// NewParser returns a parser of one answer with choices of a table.
func NewParser(choices *members.Table, content ChoiceParser, h event.Handler) *Parser {
	return &Parser{Events: event.NewSender(h), table: choices, content: content}
}

// Event reads the next event of a stream.
func (p *Parser) Event(delta sse.Event) {
	switch {
	case p.Events.Over() || len(delta.Data) == 0:
		return
	case delta.IsDone():
		p.end()
		return
	case string(delta.Name) == "error":
		p.Events.Fail(dialect.ReadEvent(delta.Data))
		return
	}
	// A chunk of a known shape differs only in the text, the padding and the usage.
	switch text, usage, ok := p.Events.Match(delta.Name, delta.Data); {
	case ok && usage == nil: // nearly all of a stream
		p.content.Repeated(p.Events.SendAgain(text))
		return
	case ok && p.chunk.recount(usage, &p.report):
		p.count()
		p.content.Repeated(p.Events.SendAgain(text))
	default:
		p.Events.Begin()
		p.read(delta.Data, false)
		p.Events.Learn(delta, p.chunk.At(framePadding), p.chunk.usageAt)
	}
	p.sendUsage()
}

// count adds the usage of the chunk.
func (p *Parser) count() { p.usage = p.usage.Then(p.report.Usage()) }

// sendUsage sends the usage so far behind the other events of the chunk.
func (p *Parser) sendUsage() {
	if p.chunk.counted {
		p.Events.Send(event.Event{Kind: event.Usage, Usage: &p.usage, Tier: p.tier})
	}
}

// Answer reads a whole JSON answer.
func (p *Parser) Answer(body []byte) {
	p.read(body, true)
	p.sendUsage()
	p.end()
}

// End ends the body of a stream.
func (p *Parser) End(clean bool) {
	if clean && (p.progress.stray != nil || p.Finished(1)) {
		p.end()
	} else {
		p.Events.Fail(fault.Truncated(nil))
	}
}

// Finished reports whether all choices have a finish_reason: those that were asked for,
// and any others that have begun.
func (p *Parser) Finished(asked int) bool { return p.progress.finished(asked) }

// Choices returns the number of choices that have begun.
func (p *Parser) Choices() (begun int) {
	for i := range p.progress.choices {
		if p.progress.choices[i].seen {
			begun++
		}
	}
	return begun
}

// MarkRefused records that the model refuses to answer in a choice.
func (p *Parser) MarkRefused(index int) { p.progress.choices[index].refused = true }

// end ends a complete answer. An answer without choices is a fault, and so is one without a finish
// whose stream has an event that is no part of an answer.
func (p *Parser) end() {
	switch {
	case p.Events.Over():
	case p.progress.stray != nil && !p.Finished(1):
		p.Events.Fail(p.progress.stray)
	case len(p.progress.choices) == 0 || !p.progress.choices[0].seen:
		p.Events.Refuse(errNoFirst)
	default:
		p.Events.Refuse(p.content.End(p))
		p.Events.Send(event.Event{Kind: event.End})
	}
}

// read reads a chunk of a stream, or a whole answer, which differs only in its messages. It
// sends events only after reading the whole document, which may turn out to be an error.
func (p *Parser) read(data []byte, whole bool) {
	d := &p.chunk
	dropped := p.Dropped
	p.parts = p.parts[:0]
	if err := d.read(data, whole, &p.report, &p.Dropped, p.readChoice); err != nil {
		p.Events.Refuse(err)
		return
	}
	if d.failed(data) || string(d.Raw(frameType)) == `"error"` {
		p.Dropped = dropped // the members around an error are not part of an answer
		if whole {
			p.Events.Fail(fault.ReadAnswer(data))
		} else {
			p.Events.Fail(dialect.ReadEvent(data))
		}
		return
	}
	if !whole {
		p.progress.stray = d.stray(data, p.progress.stray)
	}
	p.Lose("moderation", d.Filled(frameJudged))
	if whole {
		p.Events.Send(event.Event{Kind: event.Native, Text: data})
	}
	if d.counted {
		p.count()
	}
	p.tier = event.ReadTier(d.Raw(frameTier), "service_tier", &p.Dropped)
	// Some servers send a chunk about the prompt before the answer starts.
	if model := jsonscan.DecodedOf(d.Raw(frameModel)); !p.started && len(p.parts)+len(model) > 0 {
		p.started = true
		p.Events.Send(event.Event{
			Kind: event.Start, Model: model, Created: token.CountOf(d.Raw(frameCreated)), Usage: &p.usage, Tier: p.tier,
		})
	}
	byPosition := whole && repeatsIndex(p.parts)
	for nth := range p.parts {
		p.sendChoice(nth, whole, byPosition)
	}
}

// readChoice reads the next choice, which is kept until its document was read.
func (p *Parser) readChoice() (*members.Values, error) {
	n := len(p.parts)
	switch {
	case n == maxChoices:
		return nil, errIndex
	case n < cap(p.parts):
		p.parts = p.parts[:n+1]
	default:
		p.parts = append(p.parts, members.Values{})
	}
	v := &p.parts[n]
	v.Read(&p.chunk.cursor, p.table, &p.Dropped)
	return v, nil
}

// repeatsIndex reports whether two choices have the same index: some servers give index 0
// to all choices of an answer, which are then numbered by their positions.
func repeatsIndex(parts []members.Values) bool {
	if len(parts) < 2 {
		return false
	}
	seen := make(map[int64]bool, len(parts))
	for nth := range parts {
		seen[indexOf(parts, nth)] = true
	}
	return len(seen) < len(parts)
}

// indexOf returns the index of the nth choice: its position, unless it has one.
func indexOf(parts []members.Values, nth int) int64 {
	if raw := parts[nth].Raw(choiceIndex); raw != nil {
		return token.CountOf(raw)
	}
	return int64(nth)
}

// sendChoice sends the events of one choice of a chunk: its content first, then, once,
// its finish.
func (p *Parser) sendChoice(nth int, whole, byPosition bool) {
	v, position := &p.parts[nth], indexOf(p.parts, nth)
	switch {
	case p.Events.Over():
		return
	case byPosition:
		position = int64(nth)
	case position >= maxChoices:
		p.Events.Refuse(errIndex)
		return
	}
	index := int(position)
	p.progress.choice(index)
	if whole {
		p.Events.Send(event.Event{Kind: event.Native, Choice: index, Text: v.Object()})
	}
	word := finishWord(v)
	p.content.SendChoice(p, v, Choice{Index: index, Whole: whole, Ends: word != nil})
	switch c := &p.progress.choices[index]; {
	case p.Events.Over() || word == nil:
	case !c.finished:
		c.finished = true
		p.finish(index, word, v.Filled(choiceStop))
	default: // later reasons are ignored, but for failures
		if f := event.Failure(word, nil); f != nil {
			p.Events.Fail(f)
		}
	}
}

// finishWord returns the decoded word for the end of a choice, nil for one that goes on. Some
// services have the word null until then.
func finishWord(v *members.Values) []byte {
	raw := v.Filled(choiceFinish)
	if raw == nil || string(raw) == `"null"` {
		return nil
	}
	return jsonscan.DecodedOf(raw)
}

// finish sends the reason why a choice ended, and the raw stop sequence that ended it.
func (p *Parser) finish(index int, word, stop []byte) {
	e := event.Event{Choice: index, Stop: jsonscan.DecodedOf(stop)}
	if p.progress.choices[index].refused {
		e.Finish = event.FinishRefused
	}
	if unknown := p.Events.FinishBy(e, word); unknown != nil {
		p.DropNamed(InChoice+"finish_reason=", unknown)
	}
}
