package request

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// fields are the fields of a request, in the order in which faults are reported.
var fields = strict.Fields{
	{Name: "model", Check: strict.Model},
	{Name: "input"},
	{Name: "instructions", Check: strict.Text},
	{Name: "max_output_tokens"},
	{Name: "temperature", Check: strict.Number},
	{Name: "top_p", Check: strict.Number},
	{Name: "top_logprobs", Check: strict.Integer},
	{Name: "stream", Check: strict.Stream},
	{Name: "store", Check: strict.Flag},
	{Name: "background"},
	{Name: "parallel_tool_calls", Check: strict.Flag},
	{Name: "previous_response_id"},
	{Name: "conversation"},
	{Name: "prompt"},
	{Name: "tools"},
	{Name: "reasoning", Check: strict.WantOptions},
	{Name: "text", Check: text},
	{Name: "include", Check: strict.Texts},
	{Name: "metadata", Check: strict.Map},
	{Name: "stream_options", Check: strict.WantOptions},
	{Name: "tool_choice", Check: strict.Options},
	{Name: "service_tier", Check: strict.Tier},
	{Name: "max_tool_calls"},
}

// text reads the options of the text.
func text(p *strict.Pass, _ *strict.Table) {
	if p.JSON.Kind() != jsonscan.Object {
		p.Note("must be an object")
	}
	p.Options("format")
}

// request reads one request body.
type request struct {
	*strict.Pass
	items    int  // of the input; -1 for an input that has none
	hasState bool // a reference to the provider's storage replaces the input

	searches bool  // a tool searches the web
	calls    int64 // the most calls of tools of the provider
}

// Inspect is the strict pass over a request body. It returns what the gateway
// needs to know of it, or the fault that comes first: JSON faults in byte
// order, then the fields in the order of their table.
func Inspect(body []byte, _ translate.Operation) (translate.View, *fault.Fault) {
	r := request{Pass: strict.Begin(body, strict.Brackets, fields), items: -1, calls: token.DefaultSearches}
	for r.NextField() {
		r.read()
	}
	r.Require("model")
	r.requireInput()
	if r.searches {
		r.View.Costs.Searches = min(r.calls, token.MaxSearches)
	}
	return r.End()
}

func (r *request) requireInput() {
	switch {
	case r.items > maxItems:
		r.NoteField("input", "must hold at most 100000 items")
	case r.hasState:
	case r.items == 0:
		r.NoteField("input", "must hold at least one item")
	default:
		r.Require("input")
	}
}

// read reads the field at hand.
func (r *request) read() {
	switch name := r.Field(); name {
	case "input":
		r.input()
	case "max_output_tokens":
		r.View.MaxTokens = r.AtLeast(1, math.MaxInt64)
	case "tools":
		r.tools(true)
	case "max_tool_calls":
		token.ReadCount(&r.JSON, &r.calls)
	case "background":
		if r.View.Beyond.Background = r.Flag(); r.View.Beyond.Background {
			r.needsState(name)
		}
	default:
		r.stateReference(name)
	}
}

// stateReference reads a field that can replace the input, since it refers to the provider's
// storage.
func (r *request) stateReference(name string) {
	r.hasState = true
	r.needsState(name)
	switch name {
	case "previous_response_id":
		r.WantString("must be a string")
	case "conversation":
		r.conversation()
	case "prompt":
		strict.WantOptions(r.Pass, nil)
	}
}

// needsState notes the first field that needs what a provider keeps.
func (r *request) needsState(path string) {
	if r.View.Beyond.State == "" {
		r.View.Beyond.State = path
	}
}

func (r *request) conversation() {
	if _, ok := r.JSON.RawString(); ok {
		return
	}
	if r.JSON.Kind() != jsonscan.Object {
		r.Refuse("must be a string or an object" + r.Got())
		return
	}
	r.Options()
}

// tools reads tool entries. Their schemas are only copied. The first ones are those
// of the request itself, which are the items of their row.
func (r *request) tools(first bool) {
	r.Elements("must be an array of objects", func(i int) {
		if first {
			r.Item(i)
		}
		r.tool()
	})
}

func (r *request) tool() {
	if !r.JSON.EnterObject() {
		r.Refuse("must be an object")
		return
	}
	kind := jsonscan.Invalid
	for r.Member() {
		switch string(r.JSON.Name()) {
		case "type":
			kind = r.JSON.Kind()
			r.searches = token.IsSearchTool(r.JSON.StringOrSkip()) || r.searches
		case "format":
			r.Push("format")
			r.Options()
			r.Pop()
		case "tools":
			r.Push("tools")
			r.namespace()
			r.Pop()
		default:
			r.JSON.Skip()
		}
	}
	r.WantKind("type", kind, jsonscan.String)
}

// namespace reads the tools of a namespace, of which nothing is required.
func (r *request) namespace() {
	if r.JSON.Kind() != jsonscan.Array {
		r.JSON.Skip()
		return
	}
	r.Elements("", func(int) { r.Options("format") })
}
