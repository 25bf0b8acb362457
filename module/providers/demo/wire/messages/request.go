package messages

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// fields are the members of a request, including those in beta.
var fields = []string{
	"model", "messages", "max_tokens", "system", "temperature", "top_p", "top_k", "stop_sequences",
	"stream", "tools", "tool_choice", "thinking", "metadata", "output_config", "service_tier",
	"cache_control", "container", "inference_geo", "speed", "diagnostics", "thread", "mcp_servers",
	"context_management", "compaction", "fallbacks", "output_format",
}

// reader reads one request.
type reader struct {
	*reply.Request
	body   *wire.Body
	hidden bool // reasoning is signed, but its text is not shown
}

// read reads a request. Requests that only count tokens need no max_tokens.
func read(b *wire.Body, counting bool) *reader {
	b.Known(fields...)
	if b.Has("thread") {
		b.Refuse(noThread())
	}
	r := &reader{Request: &reply.Request{}, body: b}
	r.Model = b.Need("model")
	r.messages()
	r.system()
	r.Limit = b.Integer("max_tokens", 1, -1)
	if r.Limit < 0 && !counting {
		b.Missing("max_tokens")
	}
	r.options()
	r.schema()
	r.tools()
	r.toolChoice()
	r.thinking()
	r.Marked = r.Marked || b.Has("cache_control")
	return r
}

func (r *reader) options() {
	r.body.Number("temperature", 0, 1)
	r.body.Number("top_p", 0, 1)
	r.body.Integer("top_k", 0, 0)
	r.body.Sub("metadata")
	r.Stream = r.body.Flag("stream")
	r.Stops = r.body.Strings("stop_sequences")
	for _, stop := range r.Stops {
		if strings.TrimSpace(stop) == "" {
			r.body.Fail("stop_sequences", "each stop sequence must contain non-whitespace")
		}
	}
}

// schema reads the schema of a structured answer.
func (r *reader) schema() {
	output, _ := r.body.Sub("output_config")
	format, _ := output.Sub("format")
	r.Schema = format.Raw("schema")
}

func (r *reader) system() {
	if wire.Quoted(r.body.Raw("system")) {
		r.AddSystem(r.body.Text("system"))
		return
	}
	r.body.Each("system", func(block wire.Object) {
		block.OneOf("type", "text")
		r.AddSystem(block.Need("text"))
		r.Marked = r.Marked || block.Has("cache_control")
	})
}

func (r *reader) thinking() {
	t, there := r.body.Sub("thinking")
	if !there {
		return
	}
	mode := t.OneOf("type", "enabled", "adaptive", "disabled", "between_tools")
	r.Reason = mode == "enabled" || mode == "adaptive"
	r.hidden = t.OneOf("display", "summarized", "omitted") == "omitted"
	if mode != "enabled" {
		return
	}
	if n := t.Integer("budget_tokens", 1024, -1); n < 0 {
		t.Fail("budget_tokens", "required")
	} else if r.Limit > 0 && n >= r.Limit {
		r.body.Fail("max_tokens", "must be greater than thinking.budget_tokens")
	}
}

func (r *reader) tools() {
	r.body.Each("tools", func(t wire.Object) {
		kind := t.Text("type")
		custom := kind == "" || kind == "custom"
		if custom {
			t.Need("name")
			schema, _ := t.Sub("input_schema")
			schema.Need("type")
		}
		r.Marked = r.Marked || t.Has("cache_control")
		r.AddTool(reply.Tool{
			Name: t.Text("name"), Schema: t.Raw("input_schema"), Server: !custom && isServerTool(kind),
		}, t.Definition())
	})
}

var choiceModes = map[string]reply.ChoiceMode{
	"auto": reply.ChoiceAuto, "none": reply.ChoiceNone, "any": reply.ChoiceAny, "tool": reply.ChoiceAny,
}

func (r *reader) toolChoice() {
	c, there := r.body.Sub("tool_choice")
	if !there {
		return
	}
	mode := c.OneOf("type", "auto", "any", "tool", "none")
	r.Choice.Mode = choiceModes[mode]
	r.Choice.Single = c.Flag("disable_parallel_tool_use")
	if mode == "tool" {
		r.Choice.Name = c.Need("name")
	}
	if r.Choice.Mode == reply.ChoiceAny && !r.Offers(r.Choice.Name) {
		r.body.Fail("tool_choice", "no such tool is offered")
	}
}

// isServerTool reports whether the provider itself runs a tool of this type. It compares
// prefixes, because the dates at the end of types change often.
func isServerTool(kind string) bool {
	for _, prefix := range []string{"web_search_", "web_fetch_", "code_execution_", "tool_search_tool_", "mcp_toolset", "advisor_"} {
		if strings.HasPrefix(kind, prefix) {
			return true
		}
	}
	return false
}
