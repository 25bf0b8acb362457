// Package tell makes core events for tests of emitters. Only tests import it.
package tell

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The events without a content, and the start of an answer of the model "m".
var (
	Start        = event.Event{Kind: event.Start, Model: []byte("m"), Created: 7, Usage: &token.Usage{}}
	TextEnd      = event.Event{Kind: event.TextEnd}
	ReasoningEnd = event.Event{Kind: event.ReasoningEnd}
	End          = event.Event{Kind: event.End}
)

// In returns the event for a choice.
func In(choice int, e event.Event) event.Event {
	e.Choice = choice
	return e
}

// InPart returns the event for a part of a text.
func InPart(part int, e event.Event) event.Event {
	e.Part = part
	return e
}

// Text is a fragment of a text.
func Text(text string) event.Event { return event.Event{Kind: event.Text, Text: []byte(text)} }

// Refusal is a fragment of a text that refuses.
func Refusal(text string) event.Event {
	return event.Event{Kind: event.Text, Text: []byte(text), Refusal: true}
}

// Source is a page that a text cites from one byte to another.
func Source(url, title string, start, end int) event.Event {
	return event.Event{Kind: event.Source, Source: &event.Citation{URL: []byte(url), Title: []byte(title), Start: start, End: end}}
}

// Logprobs is a list of probabilities, as JSON.
func Logprobs(list string) event.Event {
	return event.Event{Kind: event.Logprobs, Logprobs: []byte(list)}
}

// Reasoning is a fragment of reasoning.
func Reasoning(text string) event.Event {
	return event.Event{Kind: event.Reasoning, Text: []byte(text)}
}

// Signature is a signature of reasoning.
func Signature(text string) event.Event {
	return event.Event{Kind: event.Signature, Text: []byte(text)}
}

// Redacted is reasoning that only its provider can read.
func Redacted(text string) event.Event {
	return event.Event{Kind: event.Redacted, Text: []byte(text)}
}

// Call begins a call of a tool.
func Call(tool int, id, name string) event.Event {
	return event.Event{Kind: event.ToolStart, Tool: tool, ID: []byte(id), Name: []byte(name)}
}

// Args is a fragment of the arguments of a call.
func Args(tool int, fragment string) event.Event {
	return event.Event{Kind: event.ToolArgs, Tool: tool, Text: []byte(fragment)}
}

// Called ends a call.
func Called(tool int) event.Event { return event.Event{Kind: event.ToolEnd, Tool: tool} }

// Finish is the end of a choice.
func Finish(reason event.FinishReason) event.Event {
	return event.Event{Kind: event.Finish, Finish: reason}
}
