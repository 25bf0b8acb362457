package responses

import (
	"net/http"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// fields are the members of a request.
var fields = []string{
	"model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "max_output_tokens",
	"max_tool_calls", "temperature", "top_p", "top_logprobs", "reasoning", "text", "include", "store",
	"previous_response_id", "conversation", "prompt", "background", "stream", "stream_options",
	"truncation", "context_management", "metadata", "service_tier", "user", "safety_identifier",
	"prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "moderation",
	"access_programs", "client_metadata",
}

// stateful are the fields that need a provider with a store.
var stateful = []string{"conversation", "prompt"}

// reader reads one request.
type reader struct {
	*reply.Request
	body   *wire.Body
	writer writer
}

func read(b *wire.Body) *reader {
	b.Known(fields...)
	r := &reader{Request: &reply.Request{}, body: b, writer: writer{settings: newSettings(b)}}
	r.Model = b.Need("model")
	r.state()
	r.AddSystem(b.Text("instructions"))
	r.input()
	r.sampling()
	r.reasoning()
	r.text()
	r.include()
	r.tools()
	return r
}

// state refuses what refers to the state of a provider.
func (r *reader) state() {
	if r.body.Text("previous_response_id") != "" {
		r.body.Refuse(&reply.Refusal{
			Status: http.StatusBadRequest, Param: "previous_response_id", Code: "previous_response_not_found",
			Message: "previous_response_id: no such response: this provider keeps none",
		})
	}
	for _, name := range stateful {
		if r.body.Has(name) {
			r.body.RefuseMember(name, "this provider keeps no state", "unsupported_parameter")
		}
	}
	if r.body.Flag("background") {
		r.body.RefuseMember("background", "this provider keeps no state", "unsupported_parameter")
	}
	r.body.Flag("store")
}

// minOutputTokens is the least max_output_tokens of a strict provider.
const minOutputTokens = 16

func (r *reader) sampling() {
	low := 1
	if r.body.Strict {
		low = minOutputTokens
	}
	r.Limit = r.body.Integer("max_output_tokens", low, -1)
	r.body.Integer("max_tool_calls", 1, 0)
	r.body.Number("temperature", 0, 2)
	r.body.Number("top_p", 0, 1)
	r.body.Sub("metadata")
	r.body.OneOf("truncation", "auto", "disabled")
	r.body.OneOf("service_tier", "auto", "default", "flex", "scale", "priority", "fast", "ultrafast")
	r.Stream = r.body.Flag("stream")
	options, there := r.body.Sub("stream_options")
	options.Known("include_obfuscation")
	if there && !r.Stream {
		r.body.Fail("stream_options", "only allowed when stream is true")
	}
	r.writer.obfuscate = options.Flag("include_obfuscation")
}

func (r *reader) reasoning() {
	o, there := r.body.Sub("reasoning")
	o.Known("effort", "summary", "generate_summary", "context", "mode")
	effort := o.OneOf("effort", "none", "minimal", "low", "medium", "high", "xhigh", "max")
	words := []string{"auto", "concise", "detailed"}
	summary := o.OneOf("summary", words...) + o.OneOf("generate_summary", words...)
	o.OneOf("context", "auto", "current_turn", "all_turns")
	o.OneOf("mode", "standard", "pro")
	r.Reason = there && effort != "none" && effort+summary != ""
	r.writer.summary = summary != ""
}

func (r *reader) text() {
	o, _ := r.body.Sub("text")
	o.Known("format", "verbosity")
	o.OneOf("verbosity", "low", "medium", "high")
	format, there := o.Sub("format")
	if !there {
		return
	}
	switch format.OneOf("type", "text", "json_object", "json_schema") {
	case "":
		format.Missing("type")
	case "json_object":
		r.Schema = []byte(`{"type":"object"}`)
	case "json_schema":
		format.Known("type", "name", "schema", "strict", "description")
		format.Need("name")
		if _, there := format.Sub("schema"); !there {
			format.Missing("schema")
		}
		r.Schema = format.Raw("schema")
	}
}

// include reads which optional parts the answer has.
func (r *reader) include() {
	include := r.body.Strings("include")
	top := r.body.Integer("top_logprobs", 0, 0)
	if top > 20 {
		r.body.Fail("top_logprobs", "must be at most 20")
	}
	r.writer.encrypted = slices.Contains(include, "reasoning.encrypted_content")
	r.writer.logprobs = -1
	if slices.Contains(include, "message.output_text.logprobs") {
		r.writer.logprobs = top
	}
}
