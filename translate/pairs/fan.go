package pairs

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Fan is the list of the translators of several calls that answer one request
// together: the answer of call n becomes choice n (wire format B.8). All translators
// write to one answer, with one id, one usage and one end, and Output of any of them
// returns the next bytes of that answer. A Fan is not safe for concurrent use.
type Fan []*Translator

// NewFan returns a translator for each of the calls, given by their answer contexts; see
// NewTranslator.
func NewFan(provider, client translate.Format, calls []*translate.AnswerContext, ids translate.IDs) Fan {
	whole := *calls[0]
	whole.Calls = calls
	fan := make(Fan, len(calls))
	answers := &formats.Of(client).Answers
	m := &merger{Emitter: answers.NewEmitter(&whole, ids), fan: fan, open: len(calls)}
	for i, memory := range calls {
		fan[i] = newTranslator(provider, memory, answers, &choiceEmitter{merger: m, choice: i})
	}
	return fan
}

// Usage returns the sum of the usage of all calls. It is unknown while one of them is.
func (f Fan) Usage() token.Usage {
	sum := f[0].Usage()
	for _, t := range f[1:] {
		sum = sum.Plus(t.Usage())
	}
	return sum
}

// Text returns the size of the text of all calls so far.
func (f Fan) Text() (sum token.Text) {
	for _, t := range f {
		sum = sum.Plus(t.Text())
	}
	return sum
}

// Reason returns why the last of the calls ended.
func (f Fan) Reason() event.FinishReason { return f[len(f)-1].Reason() }

// Model returns the model of the first call whose provider has named one.
func (f Fan) Model() string {
	for _, t := range f {
		if t.Model() != "" {
			return t.Model()
		}
	}
	return ""
}

// Losses returns the losses of all answers so far.
func (f Fan) Losses() translate.Losses {
	losses := f[0].Losses()
	for _, t := range f[1:] {
		losses.AddAll(t.Losses())
	}
	return losses
}

// merger is the emitter that the calls of a fan share.
type merger struct {
	format.Emitter
	fan  Fan
	tier event.Tier
	open int // calls that have not ended
}

// end ends the answer with the last of its calls.
func (m *merger) end(e *event.Event) {
	if m.open--; m.open > 0 {
		return
	}
	if usage := m.fan.Usage(); usage.Known {
		m.Emitter.Handle(&event.Event{Kind: event.Usage, Usage: &usage, Tier: m.tier})
	}
	m.Emitter.Handle(e)
}

// choiceEmitter writes the answer of one call of a fan.
type choiceEmitter struct {
	*merger
	choice   int
	finished bool
	unasked  translate.Dropped
	event    event.Event // a field, so that an event costs no allocation
}

// Handle writes the next core event of the call as an event of its choice. It drops
// further answers, which were not asked for.
func (c *choiceEmitter) Handle(e *event.Event) {
	switch e.Kind {
	case event.Start:
		c.Emitter.Handle(e)
	case event.Usage:
		c.tier = e.Tier
	case event.End:
		if !c.finished { // the answer has this choice even if the call gave none
			c.write(&event.Event{Kind: event.Finish})
		}
		c.end(e)
	default:
		if e.Choice != 0 {
			c.unasked.Drop("choices[*]")
			return
		}
		c.finished = c.finished || e.Kind == event.Finish
		c.write(e)
	}
}

// Losses returns the losses of the emitter, and the dropped answers.
func (c *choiceEmitter) Losses() translate.Losses {
	losses := slices.Clip(c.Emitter.Losses())
	losses.AddAll(c.unasked.Losses())
	return losses
}

// write writes a copy of the event, since the parser may reuse its event.
func (c *choiceEmitter) write(e *event.Event) {
	c.event = *e
	c.event.Choice = c.choice
	c.Emitter.Handle(&c.event)
}
