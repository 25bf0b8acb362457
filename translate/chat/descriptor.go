package chat

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// Descriptor describes the format.
var Descriptor = format.Descriptor{
	Name:           translate.Chat,
	TraceOperation: "chat",
	Client: format.Client{
		Endpoints: append([]format.Endpoint{{Method: "POST", Path: "/v1/chat/completions", Operation: translate.Generate}}, passthrough.Endpoints()...),
		Refusals:  []format.Refusal{{Path: "/v1/chat/completions", Method: "GET", Fault: fault.NoList}},
		AnswerID:  seal.CompletionID,
		CallID:    "call_",
		Quotas:    openai.Quotas,
	},
	Provider: provider(),
	Requests: format.Requests{
		Inspect: inspect, Source: &request.Source, Target: &request.Target,
		Bound: "max_tokens", Prefix: format.Prefix{Turns: "messages", Role: "role"}, SelfSigned: "messages[*].thinking_blocks",
	},
	Answers: format.Answers{
		NewObserver: answer.NewObserver,
		Inspect:     inspectAnswer,
		NewParser:   func(h event.Handler) format.Parser { return answer.NewParser(h) },
		NewEmitter:  func(m *translate.AnswerContext, ids translate.IDs) format.Emitter { return answer.NewEmitter(m, ids) },
		Native:      true,
		Place:       event.PlaceOfLinks,
		Tiers:       openai.Tiers,
		KeepAlive:   openai.KeepAlive,
		Usage:       format.UsageEdits{Ask: openai.AskUsage, Cut: openai.CutUsage},
	},
	Objects: format.Objects{
		Paths: append([]format.ObjectPath{
			{Method: "GET", Kind: seal.CompletionID, Path: "/v1/chat/completions/{id}"},
			{Method: "POST", Kind: seal.CompletionID, Path: "/v1/chat/completions/{id}", Check: request.CheckCompletion},
			{Method: "DELETE", Kind: seal.CompletionID, Path: "/v1/chat/completions/{id}"},
			{Method: "GET", Kind: seal.CompletionID, Path: "/v1/chat/completions/{id}/messages", Query: []string{"limit", "order", "after"}},
		}, files...),
		OnRequest:  true,
		ByMembers:  true,
		EditIDs:    answer.IDs.Edit,
		Ended:      answer.Ended,
		ReadResult: answer.ReadResult,
	},
	Errors: openai.Errors,
	Models: openai.Models,
}

// generation is the path of the endpoint for answers with text.
const generation = "/chat/completions"

// provider returns how providers are called: the operations beside text have endpoints of
// their own, below the same version.
func provider() format.Provider {
	p := openai.Provider(generation)
	call := p.Call
	p.Call = func(c format.Call) (path, query string) {
		path, query = call(c)
		if c.Operation.Beside() {
			path = strings.TrimSuffix(path, generation) + passthrough.Path(c.Operation)
		}
		return path, query
	}
	return p
}

func inspect(body []byte, op translate.Operation) (translate.View, *fault.Fault) {
	if op.Beside() {
		return passthrough.Inspect(body, op)
	}
	return request.Inspect(body, op)
}

func inspectAnswer(body []byte, op translate.Operation) (signal.Answer, *fault.Fault) {
	if op.Beside() {
		return passthrough.InspectAnswer(body, op)
	}
	return openai.InspectAnswer(body, op)
}
