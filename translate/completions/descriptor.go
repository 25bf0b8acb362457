package completions

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
)

// Descriptor describes the format.
var Descriptor = format.Descriptor{
	Name:           translate.Completions,
	TraceOperation: "text_completion",
	Client: format.Client{
		Endpoints: []format.Endpoint{{Method: "POST", Path: "/v1/completions", Operation: translate.Generate}},
		AnswerID:  "cmpl-",
		CallID:    "call_",
		Quotas:    openai.Quotas,
	},
	Provider: openai.Provider("/completions"),
	Requests: format.Requests{
		Inspect: request.Inspect, Source: &request.Source, Target: &request.Target,
		Bound: "max_tokens", Prefix: format.Prefix{Text: "prompt"}, FillIn: request.FillIn,
	},
	Answers: format.Answers{
		NewObserver: answer.NewObserver,
		Inspect:     openai.InspectAnswer,
		NewParser:   func(h event.Handler) format.Parser { return answer.NewParser(h) },
		NewEmitter:  func(m *translate.AnswerContext, ids translate.IDs) format.Emitter { return answer.NewEmitter(m, ids) },
		Native:      true,
		Place:       event.PlaceOfText,
		KeepAlive:   openai.KeepAlive,
		Usage:       format.UsageEdits{Ask: openai.AskUsage, Cut: openai.CutUsage, Fill: answer.FillUsage},
	},
	Errors: openai.Errors,
	Models: openai.Models,
}
