package completions

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// fields are the fields of a request, in the order in which faults are reported.
var fields = strict.Fields{
	{Name: "model"},
	{Name: "prompt"},
	{Name: "max_tokens"},
	{Name: "temperature", Check: strict.Number},
	{Name: "top_p", Check: strict.Number},
	{Name: "n"},
	{Name: "stream"},
	{Name: "stop", Check: strict.Stop},
	{Name: "suffix", Check: strict.Text},
	{Name: "echo", Check: strict.Flag},
	{Name: "stream_options", Check: strict.ByCallerOrNull},
	{Name: "logprobs", Check: strict.Integer},
	{Name: "best_of"},
	{Name: "seed", Check: strict.Integer},
}

// request reads one request body.
type request struct {
	strict.Pass
	view    translate.View
	streams bool // stream_options were sent
}

// Inspect is the strict pass over a request body. It returns what the gateway
// needs to know of it, or the fault that comes first: JSON faults in byte
// order, then the fields in the order of their table.
func Inspect(body []byte, _ translate.Operation) (translate.View, *translate.Fault) {
	r := request{Pass: strict.New(body, strict.Brackets)}
	if r.EnterBody() {
		for r.NextField(fields) {
			r.read()
		}
		r.view.End = r.ObjectEnd()
		r.RequireFields(fields, "model", "prompt")
		if r.streams && !r.view.Stream {
			r.NoteField(fields, "stream_options", "must be sent only with stream true")
		}
	}
	if fault := r.Fault(); fault != nil {
		return translate.View{}, fault
	}
	return r.view, nil
}

// read reads the field at hand.
func (r *request) read() {
	switch r.Field() {
	case "model":
		r.Model(&r.view)
	case "prompt":
		r.prompt()
	case "max_tokens":
		r.view.MaxTokens = r.Count()
	case "n", "best_of":
		r.view.Answers = max(r.view.Answers, r.Count())
	case "stream":
		r.view.Stream = r.Flag()
	case "stream_options":
		r.streams = r.StreamOptions(&r.view)
	}
}
