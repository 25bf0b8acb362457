package chat

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
)

// fields are the members of a request.
var fields = []string{
	"model", "messages", "max_completion_tokens", "max_tokens", "temperature", "top_p", "n", "stop",
	"stream", "stream_options", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs",
	"top_logprobs", "seed", "tools", "tool_choice", "parallel_tool_calls", "functions",
	"function_call", "response_format", "reasoning_effort", "verbosity", "user", "safety_identifier",
	"prompt_cache_key", "metadata", "service_tier", "store", "modalities", "audio", "prediction",
	"web_search_options", "moderation", "prompt_cache_options", "prompt_cache_retention",
}

// reader reads one request.
type reader struct {
	*reply.Request
	body *wire.Body
}

func read(b *wire.Body) (*reply.Request, wire.Writer) {
	b.Known(fields...)
	r := &reader{&reply.Request{}, b}
	w := &writer{ErrorBody: wire.ErrorBody{Family: openai.Family}, logprobs: -1}
	r.Model = b.Need("model")
	r.messages()
	w.includeUsage = openai.ReadSampling(b, r.Request)
	r.limit()
	r.schema()
	r.tools()
	w.logprobs = r.logprobs()
	effort := b.OneOf("reasoning_effort", "none", "minimal", "low", "medium", "high", "xhigh", "max")
	r.Reason = effort != "" && effort != "none"
	return r.Request, w
}

func (r *reader) limit() {
	r.Limit = r.body.Integer("max_tokens", 1, -1)
	if !r.body.Has("max_completion_tokens") {
		return
	}
	if r.body.Has("max_tokens") {
		r.body.Fail("max_tokens", "cannot be used together with max_completion_tokens")
	}
	r.Limit = r.body.Integer("max_completion_tokens", 1, -1)
}

// schema reads the schema of a structured answer.
func (r *reader) schema() {
	format, _ := r.body.Sub("response_format")
	if format.Text("type") == "json_object" {
		r.Schema = []byte(`{"type":"object"}`)
	}
	if inner, there := format.Sub("json_schema"); there {
		r.Schema = inner.Raw("schema")
	}
}

// logprobs returns the number of alternatives for each token, a negative number if the
// request does not ask for values.
func (r *reader) logprobs() int {
	wanted := r.body.Flag("logprobs")
	top := r.body.Integer("top_logprobs", 0, -1)
	if top >= 0 && !wanted {
		r.body.Fail("top_logprobs", "only allowed when logprobs is true")
	}
	if !wanted {
		return -1
	}
	return max(top, 0)
}

func (r *reader) tools() {
	if r.body.Has("tools") && len(r.body.Items("tools")) == 0 {
		r.body.Fail("tools", "must hold at least one tool")
	}
	r.body.Each("tools", r.tool)
	if r.body.Has("parallel_tool_calls") {
		r.Choice.Single = !r.body.Flag("parallel_tool_calls")
		if len(r.Tools) == 0 {
			r.body.Fail("parallel_tool_calls", "only allowed when tools are given")
		}
	}
	if r.body.Has("tool_choice") && len(r.Tools) == 0 {
		r.body.Fail("tool_choice", "only allowed when tools are given")
	}
	openai.ReadToolChoice(r.body, r.Request, namedChoice)
}

func (r *reader) tool(t wire.Object) {
	kind, inner := t.Variant("function", "custom")
	t.Known("type", kind)
	inner.Known("name", "description", "parameters", "strict", "format")
	name := openai.ReadToolName(inner)
	inner.Sub("parameters")
	r.AddTool(reply.Tool{Name: name, Schema: inner.Raw("parameters"), Custom: kind == "custom"}, t.Definition())
}

func namedChoice(c wire.Object) reply.ToolChoice {
	kind, inner := c.Variant("function", "custom", "allowed_tools")
	if kind == "allowed_tools" {
		return openai.ReadAllowedTools(inner)
	}
	return openai.OneTool(inner)
}
