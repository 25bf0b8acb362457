package completions

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// The rows of the table of fields, in the order in which faults are reported.
const (
	rowModel = iota + 1
	rowPrompt
	rowMaxTokens
	rowTemperature
	rowTopP
	rowN
	rowStream
	rowStop
	rowSuffix
	rowEcho
	rowStreamOptions
	rowLogprobs
	rowBestOf
	rowSeed
)

// request reads one request body.
type request struct {
	strict.Pass
	view      translate.View
	hasPrompt bool
	streams   bool // stream_options were sent
}

// Inspect is the strict pass over a request body. It returns what the gateway
// needs to know of it, or the fault that comes first: JSON faults in byte
// order, then the fields in the order of their table.
func Inspect(body []byte, _ translate.Operation) (translate.View, *translate.Fault) {
	r := request{Pass: strict.New(body, strict.Brackets)}
	if r.EnterBody() {
		for r.Member() {
			r.member()
		}
		r.view.End = r.ObjectEnd()
		r.Require(rowModel, "model", !r.view.ModelSpan.Empty())
		r.Require(rowPrompt, "prompt", r.hasPrompt)
		if r.streams && !r.view.Stream {
			r.Row(rowStreamOptions)
			r.NoteMember("stream_options", "must be sent only with stream true")
		}
	}
	if fault := r.Fault(); fault != nil {
		return translate.View{}, fault
	}
	return r.view, nil
}

// member reads one top-level member.
func (r *request) member() {
	switch string(r.Name()) {
	case "model":
		if r.Begin(rowModel, "model") {
			r.Model(&r.view)
		}
	case "prompt":
		if r.Begin(rowPrompt, "prompt") {
			r.hasPrompt = true
			r.prompt()
		}
	case "stream":
		if r.Begin(rowStream, "stream") {
			r.view.Stream = r.Flag()
		}
	case "stream_options":
		r.Row(rowStreamOptions)
		r.Push("stream_options")
		r.streams = r.StreamOptions(&r.view)
	case "stop":
		if r.Begin(rowStop, "stop") {
			r.WantStop()
		}
	default:
		r.option()
		return
	}
	r.Pop()
}

// option reads a top-level member that is a number, a flag or a text.
func (r *request) option() {
	switch string(r.Name()) {
	case "max_tokens":
		if r.Begin(rowMaxTokens, "max_tokens") {
			r.view.MaxTokens = r.Count()
		}
	case "temperature":
		if r.Begin(rowTemperature, "temperature") {
			r.WantNumber()
		}
	case "top_p":
		if r.Begin(rowTopP, "top_p") {
			r.WantNumber()
		}
	case "n":
		if r.Begin(rowN, "n") {
			r.view.Answers = max(r.view.Answers, r.Count())
		}
	case "suffix":
		if r.Begin(rowSuffix, "suffix") {
			r.WantString("must be a string")
		}
	case "echo":
		if r.Begin(rowEcho, "echo") {
			r.Flag()
		}
	default:
		r.integer()
		return
	}
	r.Pop()
}

// integer reads a top-level member that is an integer, or unknown.
func (r *request) integer() {
	switch string(r.Name()) {
	case "logprobs":
		if r.Begin(rowLogprobs, "logprobs") {
			r.WantInteger()
		}
	case "best_of":
		if r.Begin(rowBestOf, "best_of") {
			r.view.Answers = max(r.view.Answers, r.Count())
		}
	case "seed":
		if r.Begin(rowSeed, "seed") {
			r.WantInteger()
		}
	default:
		r.Skip()
		return
	}
	r.Pop()
}
