package request

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// fields are the fields of a request, in the order in which faults are reported.
var fields = strict.Fields{
	{Name: "model", Check: strict.Model},
	{Name: "messages"},
	{Name: "max_tokens"},
	{Name: "max_completion_tokens"},
	{Name: "n"},
	{Name: "temperature", Check: strict.Number},
	{Name: "top_p", Check: strict.Number},
	{Name: "stream", Check: strict.Stream},
	{Name: "stream_options", Check: strict.StreamOptions},
	{Name: "presence_penalty", Check: strict.Number},
	{Name: "frequency_penalty", Check: strict.Number},
	{Name: "logprobs", Check: strict.Flag},
	{Name: "top_logprobs", Check: strict.Integer},
	{Name: "seed", Check: strict.Integer},
	{Name: "parallel_tool_calls", Check: strict.Flag},
	{Name: "store", Check: strict.Flag},
	{Name: "tools"},
	{Name: "stop", Check: strict.Stop},
	{Name: "response_format", Check: strict.Options, Inner: []string{"json_schema"}},
	{Name: "tool_choice", Check: strict.Options, Inner: []string{"function", "custom", "allowed_tools"}},
	{Name: "function_call", Check: strict.Options},
	{Name: "metadata", Check: strict.AnyMap},
	{Name: "service_tier", Check: strict.Tier},
	{Name: "web_search_options"},
}

// request reads one request body.
type request struct{ strict.Pass }

// Inspect is the strict pass over a request body. It returns the view of the request, or
// the fault that comes first: JSON faults in byte order, then the fields in the order of
// their table.
func Inspect(body []byte, _ translate.Operation) (translate.View, *fault.Fault) {
	var r request
	r.Init(body, strict.Brackets, fields)
	for r.NextField() {
		r.read()
	}
	r.Require("model", "messages")
	return r.End()
}

// read reads the current field.
func (r *request) read() {
	switch r.Field() {
	case "messages":
		r.Messages(r.message)
	case "max_tokens", "max_completion_tokens":
		r.View.MaxTokens = max(r.View.MaxTokens, r.AtLeast(1, math.MaxInt64))
	case "n":
		r.View.Answers = r.AtLeast(1, math.MaxInt64)
	case "web_search_options": // a provider of the format searches once before its answer
		r.View.Costs.Searches = 1
		r.Skip()
	case "tools": // their schemas are only copied
		r.Elements("must be an array of objects", func(i int) {
			r.Item(i)
			r.WantTyped("function", "custom")
		})
	}
}
