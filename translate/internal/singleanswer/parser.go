package singleanswer

import (
	"errors"
	"unicode/utf8"

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
	Parts  Parts
}

// Parser is the part of a parser that reads an answer of one turn into core events. The
// parsers of the formats embed it, call Init, and add the methods Event and Answer of
// format.Parser.
type Parser struct {
	translate.Dropped
	event.Sender
	Tier   event.Tier   // of the answer, as far as it is known
	Report token.Report // of the last usage objects, and of what the answer states beside them

	words    *Words
	sent     sent
	usage    token.Usage
	finished bool // the reason why the turn ended is known
}

// sent counts what the events of an answer contain, and passes them on. It sends Start before
// the first event with content, for servers that do not announce an answer.
type sent struct {
	next       event.Handler
	usage      *token.Usage
	events     int
	started    bool
	texts      int
	calls      int
	cited      int // bytes of sources
	characters int // of text
}

// Handle passes an event on.
func (s *sent) Handle(e *event.Event) {
	s.events++
	switch e.Kind {
	case event.Start:
		s.started = true
	case event.Native, event.Failing, event.Error:
	default:
		if !s.started {
			s.started = true
			s.next.Handle(&event.Event{Kind: event.Start, Usage: s.usage})
		}
	}
	if e.Kind == event.Text {
		s.characters += utf8.RuneCount(e.Text)
	}
	s.next.Handle(e)
}

var errNothing = errors.New("an end without a beginning")

// Init prepares the parser of one answer. The Parser must not be copied afterwards.
func (p *Parser) Init(words *Words, h event.Handler) {
	p.words, p.sent = words, sent{next: h, usage: &p.usage}
	p.Sender = event.NewSender(&p.sent)
}

// Finished reports whether the reason why the only turn ended is known.
func (p *Parser) Finished(int) bool { return p.finished }

// Choices returns 1, the number of choices of every answer.
func (p *Parser) Choices() int { return 1 }

// End ends the body of a stream. It completes an answer whose reason is known.
func (p *Parser) End(clean bool) {
	if clean && p.finished {
		p.Complete()
	} else {
		p.Fail(fault.Truncated(nil))
	}
}

// Start sends the event Start with the decoded model and the time, in Unix seconds, as far as
// they are known. Only the first call has an effect.
func (p *Parser) Start(model []byte, created int64) {
	if !p.sent.started {
		p.Send(event.Event{Kind: event.Start, Model: model, Created: created, Usage: &p.usage, Tier: p.Tier})
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
		p.Send(event.Event{Kind: event.Usage, Usage: &p.usage, Tier: p.Tier})
	}
}

// Searched sends the usage with the number of searches that the answer shows so far, unless it
// states the number.
func (p *Parser) Searched(n int64) {
	p.Report.Searches = n
	p.SendUsage()
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
	if unknown := p.FinishBy(e, jsonscan.DecodedOf(word)); unknown != nil {
		p.DropNamed(p.words.Reason+"=", unknown)
	}
}

// SendFinish is Finish for a format that has no word for the reason: it sends the fields of e.
func (p *Parser) SendFinish(e event.Event) {
	p.finished = true
	e.Kind = event.Finish
	p.Send(e)
}

// SendMedia sends media. It reports those at the path as dropped if they are nil: media that core
// events cannot express.
func (p *Parser) SendMedia(m *event.Media, path string) {
	if m == nil {
		p.DropContent(path)
		return
	}
	p.Send(event.Event{Kind: event.Inline, Media: m})
}

// Characters returns the number of characters of text that were sent.
func (p *Parser) Characters() int { return p.sent.characters }

// Complete ends a complete answer. An answer that never began is a fault.
func (p *Parser) Complete() {
	if p.sent.events == 0 {
		p.Refuse(errNothing)
		return
	}
	p.Send(event.Event{Kind: event.End})
}
