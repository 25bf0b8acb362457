package responses

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// idPrefix begins the ids of responses.
const idPrefix = seal.ResponseID

// The parameters of the queries about objects: what of an item is included, and which items of a
// list.
var (
	included = []string{"include", "include[]"}
	pages    = append([]string{"limit", "order", "after", "before"}, included...)
)

// Descriptor describes the format.
var Descriptor = format.Descriptor{
	Name:           translate.Responses,
	TraceOperation: "chat",
	Client: format.Client{
		Endpoints: []format.Endpoint{
			{Method: "POST", Path: "/v1/responses", Operation: translate.Generate},
			{Method: "POST", Path: "/v1/responses/input_tokens", Operation: translate.CountTokens},
			{Method: "POST", Path: "/v1/responses/compact", Operation: translate.Compact},
		},
		Refusals: []format.Refusal{
			{Path: "/v1/responses", Upgrade: "websocket", Fault: fault.NoWebSocket, Operation: translate.Manage}, // which uses no model itself
			{Path: "/v1/realtime", Upgrade: "websocket", Fault: fault.NoRealtime, Operation: translate.Realtime, Dialect: &realtime.OpenAI},
			{Path: "/v1/realtime/client_secrets", Method: "POST", Fault: fault.NoRealtime, Operation: translate.Manage, Secret: true},
			{Path: "/v1/live/sessions", Upgrade: "websocket", Fault: fault.NoRealtime, Operation: translate.Live, Dialect: &realtime.Live},
		},
		Headers:  []string{"Openai-Beta"},
		AnswerID: idPrefix,
		CallID:   "call_",
		Quotas:   openai.Quotas,
	},
	Provider: provider(),
	Requests: format.Requests{
		Inspect: request.Inspect, Source: &request.Source, Target: &request.Target,
		Bound: "max_output_tokens", Prefix: format.Prefix{Rules: "instructions", Turns: "input", Role: "role", Text: "prompt"},
		SelfSigned: "input[*].encrypted_content", Encrypted: request.Encrypted,
	},
	Answers: format.Answers{
		NewObserver: answer.NewObserver,
		Inspect:     answer.Inspect,
		NewParser:   func(h event.Handler) format.Parser { return answer.NewParser(h) },
		NewEmitter:  func(m *translate.AnswerContext, ids translate.IDs) format.Emitter { return answer.NewEmitter(m, ids) },
		Native:      true,
		Place:       event.PlaceOfImages,
		Tiers:       answer.Tiers,
		NewOpening:  func(body []byte, ids translate.IDs) format.Opening { return answer.NewOpening(body, ids) },
		KeepAlive:   openai.KeepAlive,
		TokenCount:  answer.AppendTokenCount,
	},
	Objects: format.Objects{
		Paths: []format.ObjectPath{
			{Method: "GET", Kind: seal.ResponseID, Path: "/v1/responses/{id}", Query: append([]string{"stream", "starting_after", "include_obfuscation"}, included...), Streams: true},
			{Method: "DELETE", Kind: seal.ResponseID, Path: "/v1/responses/{id}"},
			{Method: "POST", Kind: seal.ResponseID, Path: "/v1/responses/{id}/cancel"},
			{Method: "GET", Kind: seal.ResponseID, Path: "/v1/responses/{id}/input_items", Query: pages},
			{Method: "POST", Kind: seal.ConversationID, Path: "/v1/conversations", Check: request.CheckItems},
			{Method: "GET", Kind: seal.ConversationID, Path: "/v1/conversations/{id}"},
			{Method: "POST", Kind: seal.ConversationID, Path: "/v1/conversations/{id}", Check: request.CheckItems},
			{Method: "DELETE", Kind: seal.ConversationID, Path: "/v1/conversations/{id}"},
			{Method: "GET", Kind: seal.ConversationID, Path: "/v1/conversations/{id}/items", Query: pages},
			{Method: "POST", Kind: seal.ConversationID, Path: "/v1/conversations/{id}/items", Query: included, Check: request.CheckItems},
			{Method: "GET", Kind: seal.ConversationID, Path: "/v1/conversations/{id}/items/{item_id}", Query: included},
			{Method: "DELETE", Kind: seal.ConversationID, Path: "/v1/conversations/{id}/items/{item_id}"},
		},
		ByMembers: true,
		EditIDs:   answer.IDs.Edit,
		Ended:     answer.Ended,
	},
	Errors: faults(),
	Models: openai.Models,
}

// provider returns how providers are called: each call has one answer.
func provider() format.Provider {
	p := openai.Provider("/responses")
	p.Call = callAddress
	p.OneAnswer = true
	p.Wants, p.MissingFor = wants, missingFor
	p.Sign = answer.Sign
	return p
}

// callAddress returns the path of a call.
func callAddress(c format.Call) (path, query string) {
	path, query = openai.Provider("/responses").Call(c)
	switch c.Operation {
	case translate.CountTokens:
		path += "/input_tokens"
	case translate.Compact:
		path += "/compact"
	case translate.Realtime:
		path, query = strings.TrimSuffix(path, "/responses")+"/realtime", "model="+url.QueryEscape(c.Model)
	case translate.Live:
		path = strings.TrimSuffix(path, "/responses") + "/live/sessions"
	}
	return path, query
}

// missingFor is how long a missing endpoint is not asked again: older versions of a
// server, and some services for some of their models, have none.
const missingFor = 10 * time.Minute

// wants returns what a refusal asks for: the endpoint of the format, if it is named, as
// recent models of OpenAI refuse tools together with reasoning in other formats, some
// models any request; a request without reasoning that was encrypted with another key, for
// another account or by another service; or a request that does not ask for encrypted
// reasoning, of a model without any.
func wants(status int, refusal *fault.Fault) format.Want {
	switch {
	case status == 400 && rejectsReasoning(refusal):
		return format.WantWithoutReasoning
	case status == 400 && rejectsEncryption(refusal):
		return format.WantWithoutEncryption
	case (status == 400 || status == 404) && strings.Contains(refusal.Message, "v1/responses"):
		return format.WantFormat
	}
	return format.WantNothing
}

// rejectsReasoning reports whether a refusal is for encrypted content that the provider
// cannot read.
func rejectsReasoning(refusal *fault.Fault) bool {
	if refusal.Code == "invalid_encrypted_content" {
		return true
	}
	return isAboutEncryption(refusal, "verif", "decrypt", "not issued")
}

// rejectsEncryption reports whether a refusal is for the demand for encrypted content, such
// as "Encrypted content is not supported with this model."
func rejectsEncryption(refusal *fault.Fault) bool {
	return isAboutEncryption(refusal, "include", "support")
}

// isAboutEncryption reports whether the message of a refusal names encrypted content, and
// one of the words by which providers give a reason.
func isAboutEncryption(refusal *fault.Fault, reasons ...string) bool {
	message := strings.ReplaceAll(strings.ToLower(refusal.Message), "_", " ")
	return strings.Contains(message, "encrypted content") && slices.ContainsFunc(reasons, func(reason string) bool {
		return strings.Contains(message, reason)
	})
}

// faults returns how failed requests are answered: as in chat, but for streams, whose
// clients know a failure by the state of the response.
func faults() format.Errors {
	e := openai.Errors
	e.Append = answer.AppendError
	e.AppendEvent = func(dst []byte, f *fault.Fault, requestID string) []byte {
		_, digits, _ := strings.Cut(requestID, "_")
		return answer.AppendFailure(dst, translate.IDs{Message: idPrefix + digits}, f)
	}
	e.Dialect = &answer.Dialect
	return e
}
