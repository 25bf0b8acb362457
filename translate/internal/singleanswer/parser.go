package singleanswer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Words are the words of a format for what all answers state.
type Words struct {
	Usage  *token.Rows
	Reason string // path of the word for the reason why the turn ended
}

// Parser is the part of a parser that reads an answer of one turn into core events: how the turn
// begins and ends, and its usage. The parsers of the formats embed it, call Init, send the items of
// the turn with Events, and add the methods Event and Answer of format.Parser.
type Parser struct {
	translate.Dropped
	Events Sender
	Tier   event.Tier   // of the answer, as far as it is known
	Report token.Report // of the last usage objects, and of what the answer states beside them

	words    *Words
	usage    token.Usage
	finished bool // the reason why the turn ended is known
}

// Init prepares the parser of one answer. The Parser must not be copied afterwards.
func (p *Parser) Init(words *Words, h event.Handler) {
	p.words = words
	p.Events.sent = sent{next: h, usage: &p.usage}
	p.Events.Sender = event.NewSender(&p.Events.sent)
}

// Finished reports whether the reason why the only turn ended is known.
func (p *Parser) Finished(int) bool { return p.finished }

// Choices returns 1, the number of choices of every answer.
func (p *Parser) Choices() int { return 1 }

// End ends the body of a stream. It completes an answer whose reason is known.
func (p *Parser) End(clean bool) {
	if clean && p.finished {
		p.Events.Complete()
	} else {
		p.Events.Fail(fault.Truncated(nil))
	}
}

// Resume makes the parser read on behind an Error, for an observer that skips what it cannot read.
func (p *Parser) Resume() { p.Events.Resume() }

// Start sends the event Start with the decoded model and the time, in Unix seconds, as far as
// they are known. Only the first call has an effect.
func (p *Parser) Start(model []byte, created int64) {
	if !p.Events.sent.started {
		p.Events.Send(event.Event{Kind: event.Start, Model: model, Created: created, Usage: &p.usage, Tier: p.Tier})
	}
}

// Count reads a member that is a usage object, and reports whether there is one. Its counts
// replace those of earlier objects, as far as it has them.
func (p *Parser) Count(v *members.Values, usage members.Member) bool {
	if v.Raw(usage) == nil {
		return false
	}
	c := v.Cursor(usage)
	if !p.Report.Read(&c, p.words.Usage) {
		return false
	}
	p.usage = p.usage.Then(p.Report.Usage())
	return true
}

// ReadTier reads the raw word for the service tier at a path, nil for none.
func (p *Parser) ReadTier(raw []byte, path string) {
	if tier := event.ReadTier(raw, path, &p.Dropped); tier != event.TierUnknown {
		p.Tier = tier
	}
}

// SendUsage sends the usage so far, if there is any.
func (p *Parser) SendUsage() {
	if p.usage = p.usage.Then(p.Report.Usage()); p.usage.Known || p.usage.Searches > 0 {
		p.Events.Send(event.Event{Kind: event.Usage, Usage: &p.usage, Tier: p.Tier})
	}
}

// Finish sends the reason why the turn ended, with the raw strings of the word for it, of the
// stop sequence and of the provider's explanation; nil for what the answer does not state.
// Without a word, Finish has no effect. A later reason replaces an earlier one.
func (p *Parser) Finish(word, stop, explanation []byte) {
	if word == nil {
		return
	}
	p.finished = true
	e := event.Event{Stop: jsonscan.DecodedOf(stop), Text: jsonscan.DecodedOf(explanation)}
	if unknown := p.Events.FinishBy(e, jsonscan.DecodedOf(word)); unknown != nil {
		p.DropNamed(p.words.Reason+"=", unknown)
	}
}

// SendFinish is Finish for a format that has no word for the reason: it sends the fields of e.
func (p *Parser) SendFinish(e event.Event) {
	p.finished = true
	e.Kind = event.Finish
	p.Events.Send(e)
}
