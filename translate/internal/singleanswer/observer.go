package singleanswer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// reader is a parser of a format that embeds Parser.
type reader interface {
	Event(sse.Event)
	Answer(body []byte)
	Resume()
}

// NewObserver returns what creates the observers of a format that has a parser. They read
// what the parser reads, and have no other knowledge of the format: deltas that only differ
// in their text are not read again.
func NewObserver[R reader](newParser func(event.Handler) R) func() signal.Observer {
	return func() signal.Observer {
		o := &observer{}
		o.parser = newParser(o)
		return o
	}
}

// observer observes an answer by the core events that a parser makes of it.
type observer struct {
	signal.Observed
	parser  reader
	signals signal.Signal // of the current event
	failure *fault.Fault  // in the current event
}

// signals are what the kinds of core events mean.
var signals = [...]signal.Signal{
	event.Text: signal.Content, event.Reasoning: signal.Content, event.Signature: signal.Content, event.Redacted: signal.Content,
	event.ToolStart: signal.Content, event.ToolArgs: signal.Content, event.Inline: signal.Content, event.Finish: signal.Content | signal.Finish,
	event.ReasoningEnd: signal.BlockEnd, event.TextEnd: signal.BlockEnd, event.ToolEnd: signal.BlockEnd,
	event.Usage: signal.HasUsage, event.End: signal.Terminal,
}

// Handle notes what a core event means.
func (o *observer) Handle(e *event.Event) {
	o.signals |= signals[e.Kind]
	switch e.Kind {
	case event.Start:
		o.ModelName = string(e.Model)
	case event.Text, event.Reasoning, event.ToolArgs:
		o.Written.Add(e.Text)
	case event.Finish:
		o.Ended = e.Finish
	case event.Usage:
		o.Used = *e.Usage
	case event.Error:
		o.failure = e.Fault
	}
}

// Observe reads the next event. After the first content, an event that violates the format
// has no meaning: the client decides about it.
func (o *observer) Observe(e sse.Event) signal.Signal {
	if o.Closed {
		return 0
	}
	o.signals, o.failure = 0, nil
	o.parser.Event(e)
	switch {
	case o.failure == nil:
	case o.failure.IsBrokenOff():
		o.Begun = o.Begun || o.signals.Has(signal.Content)
		o.parser.Resume()
		return o.signals | o.BreakOff(o.failure)
	case o.Begun && o.failure.IsUnusable():
		o.parser.Resume()
	default:
		return o.Fail(o.failure)
	}
	o.Begun = o.Begun || o.signals.Has(signal.Content)
	o.Closed = o.signals.Has(signal.Terminal)
	return o.signals
}

// Inspect returns what inspects the JSON answers of a format that has a parser. count is the name
// that InspectCount gets.
func Inspect[R reader](newParser func(event.Handler) R, count string) func([]byte, translate.Operation) (signal.Answer, *fault.Fault) {
	inspectCount := InspectCount(count)
	return func(body []byte, op translate.Operation) (signal.Answer, *fault.Fault) {
		if op == translate.CountTokens {
			return inspectCount(body)
		}
		o := &observer{}
		newParser(o).Answer(body)
		broken := o.failure != nil && o.failure.IsBrokenOff()
		return signal.Answer{Model: o.ModelName, Usage: o.Used, Ended: o.Ended, Failed: broken}, o.failure
	}
}

var errNoCount = errors.New("no count of tokens")

// InspectCount returns what inspects the JSON answers to requests that only count their input. count
// is the name of the count. It is the Input of the usage, which is not Known, since counting uses no
// tokens.
func InspectCount(count string) func(body []byte) (signal.Answer, *fault.Fault) {
	table := members.New("")
	var (
		counted = table.Maybe(members.Number, count)
		failure = table.Maybe(members.Any, "error")
		message = table.Maybe(members.Any, "message") // of an exception
		kind    = table.Maybe(members.String, "type")
	)
	return func(body []byte) (signal.Answer, *fault.Fault) {
		var v members.Values
		c := jsonscan.New(body)
		err := v.ReadDocument(&c, table, nil)
		tokens := v.Raw(counted)
		switch n, isCount := jsonscan.Integer(tokens); {
		case err != nil:
			return signal.Answer{}, fault.Unusable(err)
		case v.Set(failure) || string(v.Raw(kind)) == `"error"` || !isCount && v.Set(message):
			return signal.Answer{}, fault.ReadAnswer(body)
		case !isCount || n < 0:
			return signal.Answer{}, fault.Unusable(errNoCount)
		}
		return signal.Answer{Usage: token.Usage{Counts: token.Counts{Fresh: token.CountOf(tokens)}}}, nil
	}
}
