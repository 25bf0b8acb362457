package chat

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// The rows of the table of fields, in the order in which faults are reported.
const (
	rowModel = iota + 1
	rowMessages
	rowMaxTokens
	rowMaxCompletionTokens
	rowN
	rowTemperature
	rowTopP
	rowStream
	rowStreamOptions
	rowPresencePenalty
	rowFrequencyPenalty
	rowLogprobs
	rowTopLogprobs
	rowSeed
	rowParallelToolCalls
	rowStore
	rowTools
	rowStop
)

// request reads one request body.
type request struct {
	strict.Pass
	view        translate.View
	hasMessages bool
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
		r.Require(rowMessages, "messages", r.hasMessages)
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
	case "messages":
		if r.Begin(rowMessages, "messages") {
			r.hasMessages = true
			r.messages()
		}
	case "stream":
		if r.Begin(rowStream, "stream") {
			r.view.Stream = r.Flag()
		}
	case "stream_options":
		r.Row(rowStreamOptions)
		r.Push("stream_options")
		r.StreamOptions(&r.view)
	case "tools":
		if r.Begin(rowTools, "tools") {
			r.tools()
		}
	case "stop":
		if r.Begin(rowStop, "stop") {
			r.WantStop()
		}
	default:
		r.number()
		return
	}
	r.Pop()
}

// number reads a top-level member that is a number.
func (r *request) number() {
	switch string(r.Name()) {
	case "max_tokens":
		r.view.MaxTokens = max(r.view.MaxTokens, r.atLeastOne(rowMaxTokens, "max_tokens"))
	case "max_completion_tokens":
		r.view.MaxTokens = max(r.view.MaxTokens, r.atLeastOne(rowMaxCompletionTokens, "max_completion_tokens"))
	case "n":
		r.view.Answers = r.atLeastOne(rowN, "n")
	case "temperature":
		r.anyNumber(rowTemperature, "temperature")
	case "top_p":
		r.anyNumber(rowTopP, "top_p")
	case "presence_penalty":
		r.anyNumber(rowPresencePenalty, "presence_penalty")
	case "frequency_penalty":
		r.anyNumber(rowFrequencyPenalty, "frequency_penalty")
	case "top_logprobs":
		r.anyInteger(rowTopLogprobs, "top_logprobs")
	case "seed":
		r.anyInteger(rowSeed, "seed")
	case "logprobs":
		r.flag(rowLogprobs, "logprobs")
	case "parallel_tool_calls":
		r.flag(rowParallelToolCalls, "parallel_tool_calls")
	case "store":
		r.flag(rowStore, "store")
	default:
		r.unchecked()
	}
}

func (r *request) atLeastOne(row int, name string) (n int64) {
	if r.Begin(row, name) {
		n = r.AtLeast(1, math.MaxInt64)
	}
	r.Pop()
	return n
}

func (r *request) anyNumber(row int, name string) {
	if r.Begin(row, name) {
		r.WantNumber()
	}
	r.Pop()
}

func (r *request) anyInteger(row int, name string) {
	if r.Begin(row, name) {
		r.WantInteger()
	}
	r.Pop()
}

func (r *request) flag(row int, name string) {
	if r.Begin(row, name) {
		r.Flag()
	}
	r.Pop()
}

// unchecked reads a top-level member of which nothing is required. Those that
// translation reads are searched for repeated members.
func (r *request) unchecked() {
	switch string(r.Name()) {
	case "response_format":
		r.Push("response_format")
		r.OptionsWith("json_schema")
	case "tool_choice":
		r.Push("tool_choice")
		r.OptionsWith("function", "custom", "allowed_tools")
	case "function_call":
		r.Push("function_call")
		r.Options()
	case "metadata":
		r.Push("metadata")
		r.Map()
	default:
		r.Skip()
		return
	}
	r.Pop()
}

// tools reads the tool entries. Their schemas are only copied.
func (r *request) tools() {
	if !r.EnterArray() {
		r.Refuse("must be an array of objects")
		return
	}
	for i := 0; r.Element(); i++ {
		r.PushIndex(i)
		r.Item(i)
		r.WantTyped("function", "custom")
		r.Pop()
	}
}
