// Package pairs is the door to the formats: it gives the codec of each, and
// what carries requests and answers from one to another.
//
// It promises that every format of translate.Formats has a codec, so that those
// outside need not import the packages of the formats, and that no field of a
// request is dropped in silence: it is carried over, reported as a loss, or
// refused. What becomes of which field is the join of two tables, those of the
// client's and of the provider's format; tests hold the conversions to it.
package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// Codec is what the gateway does with the bodies of one format.
type Codec struct {
	// Inspect is the strict pass over a request body, which it never changes.
	Inspect func(body []byte, op translate.Operation) (translate.View, *translate.Fault)
	// NewObserver returns an observer for one answer stream.
	NewObserver func() translate.Observer
	// InspectAnswer reads a whole JSON answer of status 2xx to the operation.
	InspectAnswer func(body []byte, op translate.Operation) (translate.Answer, *translate.Fault)
	// Replay writes a whole JSON answer that InspectAnswer took for one as the
	// stream that it would have been, with a usage chunk where that is wanted
	// and the format has one.
	Replay func(answer []byte, usage bool) ([]byte, *translate.Fault)
	// CutUsage appends the edits that take the usage out of an event that
	// HasUsage; nil for a format whose usage nobody has to ask for.
	CutUsage func(edits []translate.Edit, event []byte) []translate.Edit
	// FillUsage appends the edits that add to a JSON answer, or to an event that
	// HasUsage, the counts of usage that it lacks, as zeros; nil for a format of
	// which none are promised.
	FillUsage func(edits []translate.Edit, answer []byte) []translate.Edit
}

var codecs = map[translate.Format]Codec{
	translate.Messages: {messages.Inspect, messages.NewObserver, messages.InspectAnswer, messages.Replay, nil, messages.FillUsage},
	translate.Chat:     {chat.Inspect, chat.NewObserver, chat.InspectAnswer, chat.Replay, choices.CutUsage, nil},
	translate.Completions: {
		completions.Inspect, completions.NewObserver, completions.InspectAnswer, completions.Replay, choices.CutUsage, completions.FillUsage,
	},
}

// sources are the readers of requests, and targets their writers.
var (
	sources = map[translate.Format]*core.Source{
		translate.Messages:    &messages.RequestSource,
		translate.Chat:        &chat.RequestSource,
		translate.Completions: &completions.RequestSource,
	}
	targets = map[translate.Format]*core.Target{
		translate.Messages:    &messages.RequestTarget,
		translate.Chat:        &chat.RequestTarget,
		translate.Completions: &completions.RequestTarget,
	}
)

// For returns the codec of a valid format.
func For(format translate.Format) Codec {
	codec, ok := codecs[format]
	if !ok {
		panic("pairs: no codec for format " + string(format))
	}
	return codec
}

// Measure measures a request of a client's format that has passed Inspect.
func Measure(from translate.Format, body []byte) translate.Size {
	if source := sources[from]; source != nil {
		return core.Measure(body, source)
	}
	return translate.Size{}
}
