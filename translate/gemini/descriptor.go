package gemini

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
)

// keyHeader is the header that clients send their key in.
const keyHeader = "X-Goog-Api-Key"

// The paths of the methods below a version.
const (
	models    = "/models/" + format.Placeholder
	generate  = models + ":generateContent"
	stream    = models + ":streamGenerateContent"
	count     = models + ":countTokens"
	embed     = models + ":embedContent"
	embedMany = models + ":batchEmbedContents"
)

// Descriptor describes the format.
var Descriptor = format.Descriptor{
	Name:           translate.Gemini,
	TraceOperation: "generate_content",
	Client: format.Client{
		Endpoints: []format.Endpoint{
			{Method: "POST", Path: version + generate, Operation: translate.Generate},
			{Method: "POST", Path: version + stream, Operation: translate.Generate, Stream: true, Parameter: "alt=sse"},
			{Method: "POST", Path: version + count, Operation: translate.CountTokens},
			{Method: "POST", Path: version + embed, Operation: translate.Embed},
			{Method: "POST", Path: version + embedMany, Operation: translate.EmbedMany},
		},
		Versions: versions,
		Refusals: []format.Refusal{
			{Path: livePath(version), Upgrade: "websocket", Fault: fault.NoRealtime, Operation: translate.Realtime, Dialect: &realtime.Gemini},
			{Path: livePath(alpha), Upgrade: "websocket", Fault: fault.NoRealtime, Operation: translate.Realtime, Dialect: &realtime.Gemini},
			{Path: livePath(version) + constrained, Upgrade: "websocket", Fault: fault.NoRealtime, Operation: translate.Realtime, Dialect: &realtime.Gemini},
			{Path: livePath(alpha) + constrained, Upgrade: "websocket", Fault: fault.NoRealtime, Operation: translate.Realtime, Dialect: &realtime.Gemini},
			{Path: version + "/auth_tokens", Method: "POST", Fault: fault.NoRealtime, Operation: translate.Manage, Secret: true},
			{Path: alpha + "/auth_tokens", Method: "POST", Fault: fault.NoRealtime, Operation: translate.Manage, Secret: true},
		},
		KeyHeader:    keyHeader,
		KeyParameter: "key",
		Marks:        []string{keyHeader, "X-Goog-Api-Client"},
		AnswerID:     "resp-",
		CallID:       "call_",
		Quotas:       openai.Quotas,
	},
	Provider: Provider,
	Requests: format.Requests{
		Inspect: request.Inspect, Source: &request.Source, Target: &request.Target,
		Bound: "maxOutputTokens", Prefix: format.Prefix{Rules: "systemInstruction", Turns: "contents", Role: "role"},
		SelfSigned: "contents[*].parts[*].thoughtSignature", Resigned: request.Resigned, ModelName: request.ModelName, ModelNames: request.ModelNames,
	},
	Answers: format.Answers{
		NewObserver: singleanswer.NewObserver(answer.NewParser),
		Inspect:     answer.Inspect,
		NewParser:   func(h event.Handler) format.Parser { return answer.NewParser(h) },
		NewEmitter:  func(m *translate.AnswerContext, ids translate.IDs) format.Emitter { return answer.NewEmitter(m, ids) },
		Place:       event.PlaceOfMedia,
		Tiers:       answer.Tiers,
		KeepAlive:   answer.KeepAlive,
		NoLastEvent: true,
		TokenCount:  answer.AppendTokenCount,
	},
	Errors: format.Errors{
		Dialect: &answer.Dialect, Status: answer.Status, Append: answer.AppendError, AppendEvent: answer.AppendErrorEvent,
		Aborts: true,
	},
	Objects: objects,
	Models:  Models,

	Embeddings: format.Embeddings{Request: request.AppendEmbeddings, Answer: answer.AppendEmbeddings},
}
