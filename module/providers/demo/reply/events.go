package reply

import (
	"iter"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Context returns what the emitter of the answer needs to know of the request.
func (a *Answer) Context() *translate.AnswerContext {
	context := *a.Request.contexts[0]
	if len(a.Request.contexts) > 1 {
		for _, s := range a.Samples {
			context.Calls = append(context.Calls, a.Request.contexts[s.Index/a.Request.Sampling.N])
		}
	}
	if a.Request.Faults.Has(JSON) {
		context.Stream = false
	}
	if a.Request.Faults.Has(NoSignature) {
		context.Seals = nil
	}
	return &context
}

// Events returns the core events of the answer in a format. Its samples take turns, because a real
// model generates them concurrently.
func (a *Answer) Events(d *format.Descriptor) iter.Seq[event.Event] {
	contents := make([][]piece, len(a.Samples))
	for i := range a.Samples {
		contents[i] = a.content(d, &a.Samples[i])
	}
	return func(yield func(event.Event) bool) {
		start := event.Event{Kind: event.Start, Model: []byte(a.Request.Model), Created: a.Created, Tier: event.TierStandard, Usage: a.begun()}
		wanted := yield(start)
		for round, more := 0, true; wanted && more; round++ {
			more = false
			for i, content := range contents {
				if wanted && round < len(content) {
					more, wanted = true, yield(a.event(d, &a.Samples[i], content[round]))
				}
			}
		}
		for i := range a.Samples {
			wanted = wanted && yield(a.Samples[i].finish())
		}
		if !a.Request.Faults.Has(NoUsage) {
			wanted = wanted && yield(event.Event{Kind: event.Usage, Usage: &a.Usage})
		}
		_ = wanted && yield(event.Event{Kind: event.End})
	}
}

// begun returns the usage at the beginning of the answer, nil with the fault no-usage.
func (a *Answer) begun() *token.Usage {
	if a.Request.Faults.Has(NoUsage) {
		return nil
	}
	u := a.Usage
	u.Answer, u.Reasoning = min(1, u.Output()), 0
	return &u
}

// piece is what becomes one event of a sample.
type piece struct {
	kind event.Kind
	tool int // index of the call
	text string
}

// content returns a sample in pieces: reasoning, text and calls.
func (a *Answer) content(d *format.Descriptor, s *Sample) (list []piece) {
	add := func(kind event.Kind, tool int, texts ...string) {
		for _, text := range texts {
			list = append(list, piece{kind, tool, text})
		}
	}
	if s.Reasoning != nil {
		if !a.Request.Hidden {
			add(event.Reasoning, 0, s.Reasoning...)
		}
		if d.Provider.Sign != nil {
			add(event.Signature, 0, "")
		}
		add(event.ReasoningEnd, 0, "")
	}
	for _, text := range s.Pieces {
		add(event.Text, 0, text)
		if a.Request.contexts[0].Logprobs.Asked {
			add(event.Logprobs, 0, text)
		}
	}
	for i, call := range s.Calls {
		add(event.ToolStart, i, "")
		add(event.ToolArgs, i, call.Pieces...)
		add(event.ToolEnd, i, "")
	}
	return list
}

// event returns a piece of a sample as an event.
func (a *Answer) event(d *format.Descriptor, s *Sample, p piece) event.Event {
	e := event.Event{Kind: p.kind, Tool: p.tool, Text: []byte(p.text)}
	switch p.kind {
	case event.Signature:
		e = d.Provider.Sign(a.signature(d, s))
	case event.Text:
		e.Refusal = s.Refused
	case event.Logprobs:
		e.Logprobs = logprobs(p.text, a.Request.contexts[0].Logprobs.Top)
	case event.ToolStart:
		call := &s.Calls[p.tool]
		e.ID, e.Name, e.Custom = []byte(d.Client.CallID+call.ID), []byte(call.Tool.Name), call.Tool.Free
	}
	e.Choice = s.Index
	return e
}

// signature returns the signature of the reasoning: of what the client sends back of its text.
func (a *Answer) signature(d *format.Descriptor, s *Sample) []byte {
	switch {
	case a.Request.Faults.Has(NoSignature):
		return nil
	case a.Request.Hidden || d.Requests.Encrypted != nil:
		return sign(a.Hash, "")
	}
	return sign(a.Hash, strings.Join(s.Reasoning, ""))
}

// finish returns the end of the sample.
func (s *Sample) finish() event.Event {
	e := event.Event{Kind: event.Finish, Choice: s.Index, Finish: s.Stop, Stop: []byte(s.Matched)}
	switch s.Stop {
	case event.FinishRefused:
		e.Text = []byte("the prompt asked for a refusal")
	case event.FinishFiltered:
		e.Text = []byte("the prompt asked for a filter")
	}
	return e
}
