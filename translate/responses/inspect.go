package responses

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// The rows of the table of fields, in the order in which faults are reported.
const (
	rowModel = iota + 1
	rowInput
	rowInstructions
	rowMaxOutputTokens
	rowTemperature
	rowTopP
	rowTopLogprobs
	rowStream
	rowStore
	rowBackground
	rowParallelToolCalls
	rowPreviousResponseID
	rowConversation
	rowPrompt
	rowTools
	rowReasoning
	rowText
	rowInclude
	rowMetadata
	rowStreamOptions
)

// request reads one request body.
type request struct {
	strict.Pass
	view     translate.View
	hasInput bool
	empty    bool // the input has no items
	standIn  bool // something that the provider keeps stands in for the input
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
		r.requireInput()
	}
	if fault := r.Fault(); fault != nil {
		return translate.View{}, fault
	}
	return r.view, nil
}

func (r *request) requireInput() {
	if r.standIn {
		return
	}
	r.Require(rowInput, "input", r.hasInput)
	if r.empty {
		r.Row(rowInput)
		r.NoteMember("input", "must hold at least one item")
	}
}

// member reads one top-level member.
func (r *request) member() {
	switch string(r.Name()) {
	case "model":
		if r.Begin(rowModel, "model") {
			r.Model(&r.view)
		}
	case "input":
		if r.Begin(rowInput, "input") {
			r.hasInput = true
			r.input()
		}
	case "instructions":
		if r.Begin(rowInstructions, "instructions") {
			r.WantString("must be a string")
		}
	case "max_output_tokens":
		if r.Begin(rowMaxOutputTokens, "max_output_tokens") {
			r.view.MaxTokens = r.AtLeast(1, math.MaxInt64)
		}
	case "stream":
		if r.Begin(rowStream, "stream") {
			r.view.Stream = r.Flag()
		}
	case "tools":
		if r.Begin(rowTools, "tools") {
			r.tools(true)
		}
	default:
		r.option()
		return
	}
	r.Pop()
}

// option reads a top-level member that is checked by itself.
func (r *request) option() {
	switch string(r.Name()) {
	case "temperature":
		if r.Begin(rowTemperature, "temperature") {
			r.WantNumber()
		}
	case "top_p":
		if r.Begin(rowTopP, "top_p") {
			r.WantNumber()
		}
	case "top_logprobs":
		if r.Begin(rowTopLogprobs, "top_logprobs") {
			r.WantInteger()
		}
	case "store":
		if r.Begin(rowStore, "store") {
			r.Flag()
		}
	case "parallel_tool_calls":
		if r.Begin(rowParallelToolCalls, "parallel_tool_calls") {
			r.Flag()
		}
	case "include":
		if r.Begin(rowInclude, "include") {
			r.WantStrings("must be an array of strings")
		}
	case "reasoning":
		if r.Begin(rowReasoning, "reasoning") {
			r.options()
		}
	case "metadata":
		if r.Begin(rowMetadata, "metadata") {
			r.WantMap()
		}
	case "stream_options":
		if r.Begin(rowStreamOptions, "stream_options") {
			r.options()
		}
	default:
		r.state()
		return
	}
	r.Pop()
}

// state reads a top-level member that refers to what a provider keeps.
func (r *request) state() {
	switch string(r.Name()) {
	case "previous_response_id":
		if r.Begin(rowPreviousResponseID, "previous_response_id") {
			r.standsIn("previous_response_id")
			r.WantString("must be a string")
		}
	case "conversation":
		if r.Begin(rowConversation, "conversation") {
			r.standsIn("conversation")
			r.conversation()
		}
	case "prompt":
		if r.Begin(rowPrompt, "prompt") {
			r.standsIn("prompt")
			r.options()
		}
	case "background":
		if r.Begin(rowBackground, "background") && r.Flag() {
			r.needsState("background")
		}
	default:
		r.unchecked()
		return
	}
	r.Pop()
}

// standsIn notes a member that may stand in for the input.
func (r *request) standsIn(path string) {
	r.standIn = true
	r.needsState(path)
}

// needsState notes the first field that needs what a provider keeps.
func (r *request) needsState(path string) {
	if r.view.State == "" {
		r.view.State = path
	}
}

func (r *request) conversation() {
	if _, ok := r.RawString(); ok {
		return
	}
	if r.Kind() != jsonscan.Object {
		r.Refuse("must be a string or an object" + r.Got())
		return
	}
	r.Options()
}

// unchecked reads a top-level member of which little is required. Those that
// translation reads are searched for repeated members.
func (r *request) unchecked() {
	switch string(r.Name()) {
	case "text":
		if r.Begin(rowText, "text") {
			r.options("format")
		}
	case "tool_choice":
		r.Push("tool_choice")
		r.Options()
	default:
		r.Skip()
		return
	}
	r.Pop()
}

// options checks an object of options, in which some members are objects of options
// themselves.
func (r *request) options(inner ...string) {
	if r.Kind() != jsonscan.Object {
		r.Refuse("must be an object")
		return
	}
	r.OptionsWith(inner...)
}

// tools reads tool entries. Their schemas are only copied. The first ones are those
// of the request itself, which are the items of their row.
func (r *request) tools(first bool) {
	if !r.EnterArray() {
		r.Refuse("must be an array of objects")
		return
	}
	for i := 0; r.Element(); i++ {
		r.PushIndex(i)
		if first {
			r.Item(i)
		}
		r.tool()
		r.Pop()
	}
}

func (r *request) tool() {
	if !r.EnterObject() {
		r.Refuse("must be an object")
		return
	}
	kind := jsonscan.Invalid
	for r.Member() {
		switch string(r.Name()) {
		case "type":
			kind = r.Kind()
			r.Skip()
		case "format":
			r.Push("format")
			r.Options()
			r.Pop()
		case "tools":
			r.Push("tools")
			r.namespace()
			r.Pop()
		default:
			r.Skip()
		}
	}
	r.WantKind("type", kind, jsonscan.String)
}

// namespace reads the tools of a namespace, of which nothing is required.
func (r *request) namespace() {
	if !r.EnterArray() {
		r.Skip()
		return
	}
	for i := 0; r.Element(); i++ {
		r.PushIndex(i)
		r.OptionsWith("format")
		r.Pop()
	}
}
