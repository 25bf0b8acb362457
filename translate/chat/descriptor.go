package chat

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
)

// Descriptor describes the format.
var Descriptor = format.Descriptor{
	Name:           translate.Chat,
	TraceOperation: "chat",
	Client: format.Client{
		Endpoints: []format.Endpoint{{Method: "POST", Path: "/v1/chat/completions", Operation: translate.Generate}},
		AnswerID:  "chatcmpl-",
		CallID:    "call_",
		Quotas:    openai.Quotas,
	},
	Provider: openai.Provider("/chat/completions"),
	Requests: format.Requests{
		Inspect: request.Inspect, Source: &request.Source, Target: &request.Target,
		Bound: "max_tokens", Prefix: format.Prefix{Turns: "messages", Role: "role"}, SelfSigned: "messages[*].thinking_blocks",
	},
	Answers: format.Answers{
		NewObserver: answer.NewObserver,
		Inspect:     openai.InspectAnswer,
		NewParser:   func(h event.Handler) format.Parser { return answer.NewParser(h) },
		NewEmitter:  func(m *translate.AnswerContext, ids translate.IDs) format.Emitter { return answer.NewEmitter(m, ids) },
		Native:      true,
		KeepAlive:   openai.KeepAlive,
		Usage:       format.UsageEdits{Ask: openai.AskUsage, Cut: openai.CutUsage},
	},
	Errors: openai.Errors,
	Models: openai.Models,
}
