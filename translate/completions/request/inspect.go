package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// fields are the fields of a request, in the order in which faults are reported.
var fields = strict.Fields{
	{Name: "model", Check: strict.Model},
	{Name: "prompt"},
	{Name: "max_tokens"},
	{Name: "temperature", Check: strict.Number},
	{Name: "top_p", Check: strict.Number},
	{Name: "n"},
	{Name: "stream", Check: strict.Stream},
	{Name: "stop", Check: strict.Stop},
	{Name: "suffix", Check: strict.Text},
	{Name: "echo", Check: strict.Flag},
	{Name: "stream_options", Check: strict.StreamOptions},
	{Name: "logprobs", Check: strict.Integer},
	{Name: "best_of"},
	{Name: "seed", Check: strict.Integer},
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
	r.Require("model", "prompt")
	if r.Has("stream_options") && !r.View.Stream {
		r.NoteField("stream_options", "must be sent only with stream true")
	}
	return r.End()
}

// read reads the current field.
func (r *request) read() {
	switch r.Field() {
	case "prompt":
		r.prompt()
	case "max_tokens":
		r.View.MaxTokens = r.Count()
	case "n", "best_of":
		r.View.Answers = max(r.View.Answers, r.Count())
	}
}
