package messages

import (
	"net/url"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// Descriptor describes the format.
var Descriptor = format.Descriptor{
	Name:           translate.Messages,
	TraceOperation: "chat",
	Client: format.Client{
		Endpoints: []format.Endpoint{
			{Method: "POST", Path: "/v1/messages", Operation: translate.Generate},
			{Method: "POST", Path: "/v1/messages/count_tokens", Operation: translate.CountTokens},
		},
		KeyHeader: "X-Api-Key",
		Query:     []string{"beta=true"},
		Headers:   []string{versionHeader, "Anthropic-Beta"},
		AnswerID:  "msg_",
		CallID:    "toolu_",
		Quotas: format.Quotas{
			Requests: quotaHeaders("Requests"),
			Tokens:   quotaHeaders("Tokens"),
			Reset:    resetTime,
			Budget:   budgetHeaders,
			Claims:   []string{budgetClaim, budgetStatus},
		},
	},
	Provider: format.Provider{Call: callAddress, Delivery: []string{"stream"}, Models: modelsAddress, OneAnswer: true, Sign: answer.Sign},
	Version:  format.Version{Header: versionHeader, Check: checkVersion, Sent: sentVersion},
	Requests: format.Requests{
		Inspect: request.Inspect, Source: &request.Source, Target: &request.Target,
		Bound: "max_tokens", Prefix: format.Prefix{Rules: "system", Turns: "messages", Role: "role"},
		SelfSigned: "messages.*.content.*.thinking", Attribution: format.Part{Path: "system.*.text", Find: request.Attribution},
	},
	Answers: format.Answers{
		NewObserver: answer.NewObserver,
		Inspect:     answer.Inspect,
		NewParser:   func(h event.Handler) format.Parser { return answer.NewParser(h) },
		NewEmitter:  func(m *translate.AnswerContext, ids translate.IDs) format.Emitter { return answer.NewEmitter(m, ids) },
		Native:      true,
		Place:       event.PlaceOfCalls,
		Tiers:       answer.Tiers,
		KeepAlive:   answer.KeepAlive,
		TokenCount:  answer.AppendTokenCount,
		Usage:       format.UsageEdits{Fill: answer.FillUsage},
	},
	Objects: format.Objects{
		Paths: []format.ObjectPath{
			{Method: "POST", Kind: seal.MessageBatchID, Path: batchesPath, Query: beta, Batch: &format.Batch{Inline: true, Read: request.Batch}},
			{Method: "GET", Kind: seal.MessageBatchID, Path: batchesPath, Refused: fault.NoBatchList},
			{Method: "GET", Kind: seal.MessageBatchID, Path: batchesPath + "/{id}", Query: beta},
			{Method: "DELETE", Kind: seal.MessageBatchID, Path: batchesPath + "/{id}", Query: beta},
			{Method: "POST", Kind: seal.MessageBatchID, Path: batchesPath + "/{id}/cancel", Query: beta},
			{Method: "GET", Kind: seal.MessageBatchID, Path: batchesPath + "/{id}/results", Query: beta, Results: true},
			{Method: "POST", Kind: seal.ClaudeFileID, Path: filesPath, Query: beta, Form: &format.Form{File: "file", Texts: []string{"expires_in_seconds"}}},
			{Method: "GET", Kind: seal.ClaudeFileID, Path: filesPath, Refused: fault.NoFileList},
			{Method: "GET", Kind: seal.ClaudeFileID, Path: filesPath + "/{id}", Query: beta},
			{Method: "DELETE", Kind: seal.ClaudeFileID, Path: filesPath + "/{id}", Query: beta},
			{Method: "GET", Kind: seal.ClaudeFileID, Path: filesPath + "/{id}/content", Query: beta, Content: true},
		},
		OnRequest:  true,
		ByMembers:  true,
		EditIDs:    answer.EditIDs,
		Ended:      answer.Ended,
		ReadResult: answer.ReadResult,
	},
	Errors: format.Errors{Dialect: &answer.Dialect, Status: answer.Status, Append: answer.AppendError, AppendEvent: answer.AppendErrorEvent},
	Models: format.Models{
		Append:     appendModel,
		AppendList: appendModels,
		Paging:     &paging,
	},
}

// The paths of stored objects.
const (
	batchesPath = "/v1/messages/batches"
	filesPath   = "/v1/files"
)

// beta is the parameter of clients that use a beta of the API.
var beta = []string{"beta"}

var paging = format.Paging{Limit: "limit", After: "after_id", Before: "before_id", Standard: 20, Largest: 1000}

// quotaHeaders returns the headers of the limit that counts requests or tokens
// (wire format E.5).
func quotaHeaders(counted string) format.QuotaHeaders {
	prefix := "Anthropic-Ratelimit-" + counted + "-"
	return format.QuotaHeaders{Limit: prefix + "Limit", Remaining: prefix + "Remaining", Reset: prefix + "Reset"}
}

// resetTime writes the first whole second after a time.
func resetTime(now time.Time, wait time.Duration) string {
	return now.Add(wait + time.Second - 1).UTC().Format(time.RFC3339)
}

// callAddress returns the path and the query of a call.
func callAddress(c format.Call) (path, query string) {
	if c.Object != "" {
		return versioned(c.Base) + c.Object, ""
	}
	path = versioned(c.Base) + "/messages"
	if c.Operation == translate.CountTokens {
		path += "/count_tokens"
	}
	return path, c.Query
}

// modelsAddress returns the path and the query of the largest page of models.
func modelsAddress(base, last string) (path, query string) {
	page := url.Values{paging.Limit: {"1000"}}
	if last != "" {
		page.Set(paging.After, last)
	}
	return versioned(base) + "/models", page.Encode()
}

// versioned returns the path of a base URL up to the version. SDKs of the format
// take a base URL without the version; one that ends in it is understood as well.
func versioned(base string) string { return strings.TrimSuffix(base, "/v1") + "/v1" }
