package demo

import (
	"encoding/json"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// messagesFields are the members of a messages request, those in beta included.
var messagesFields = []string{
	"model", "messages", "max_tokens", "system", "temperature", "top_p", "top_k", "stop_sequences",
	"stream", "tools", "tool_choice", "thinking", "metadata", "output_config", "service_tier",
	"cache_control", "container", "inference_geo", "speed", "diagnostics", "thread", "mcp_servers",
	"context_management", "compaction", "fallbacks", "output_format",
}

// parseMessages reads a messages request, or one of count_tokens.
func parseMessages(src *source, body []byte, counting bool) (*ask, *refusal) {
	o := src.body(body)
	o.known(messagesFields...)
	if o.has("thread") && src.fault == nil {
		src.fault = noThread()
	}
	q := &ask{format: translate.Messages, n: 1, logprobs: -1}
	q.model = o.need("model")
	q.readMessages(o)
	q.readMessagesSystem(o)
	if !counting || o.has("max_tokens") {
		q.limit = budget(o.integer("max_tokens", 1, -1))
		if q.limit < 0 {
			src.fail("max_tokens", "required", "")
		}
	}
	q.readMessagesOptions(o)
	q.readMessagesTools(o)
	q.readThinking(o)
	q.marked = q.marked || o.has("cache_control")
	return q, src.fault
}

func (q *ask) readMessagesOptions(o object) {
	o.number("temperature", 0, 1)
	o.number("top_p", 0, 1)
	o.integer("top_k", 0, 0)
	o.sub("metadata")
	q.stream = o.flag("stream")
	q.stops = o.strings("stop_sequences", false)
	for _, stop := range q.stops {
		if strings.TrimSpace(stop) == "" {
			o.fail("stop_sequences", "each stop sequence must contain non-whitespace")
		}
	}
}

func (q *ask) readMessagesSystem(o object) {
	if quoted(o.raw("system")) {
		q.addSystem(o.text("system"))
		return
	}
	o.each("system", func(block object) {
		block.oneOf("type", "text")
		q.addSystem(block.need("text"))
		q.marked = q.marked || block.has("cache_control")
	})
}

func (q *ask) readThinking(o object) {
	t, there := o.sub("thinking")
	if !there {
		return
	}
	mode := t.oneOf("type", "enabled", "adaptive", "disabled", "between_tools")
	q.reason = mode == "enabled" || mode == "adaptive"
	q.hidden = t.oneOf("display", "summarized", "omitted") == "omitted"
	if mode != "enabled" {
		return
	}
	if n := t.integer("budget_tokens", 1024, -1); n < 0 {
		t.fail("budget_tokens", "required")
	} else if q.limit > 0 && n >= int(q.limit) {
		o.fail("max_tokens", "must be greater than thinking.budget_tokens")
	}
}

func (q *ask) readMessagesTools(o object) {
	o.each("tools", func(t object) {
		kind := t.text("type")
		offered := tool{name: t.text("name"), schema: t.raw("input_schema")}
		custom := kind == "" || kind == "custom"
		offered.server = !custom && isServerTool(kind)
		if custom {
			t.need("name")
			schema, _ := t.sub("input_schema")
			schema.need("type")
		}
		q.marked = q.marked || t.has("cache_control")
		whole, _ := json.Marshal(t.members) // raw messages always encode
		q.addTool(offered, whole)
	})
	c, there := o.sub("tool_choice")
	if !there {
		return
	}
	q.choice.mode = c.oneOf("type", "auto", "any", "tool", "none")
	q.choice.single = c.flag("disable_parallel_tool_use")
	if q.choice.mode == "tool" {
		q.choice.mode, q.choice.name = "any", c.need("name")
	}
	if q.choice.mode == "any" && !q.offers(q.choice.name) {
		o.fail("tool_choice", "no such tool is offered")
	}
}

// isServerTool tells the tools that the provider itself runs by their prefix;
// the date behind it changes often.
func isServerTool(kind string) bool {
	for _, prefix := range []string{"web_search_", "web_fetch_", "code_execution_", "tool_search_tool_", "mcp_toolset", "advisor_"} {
		if strings.HasPrefix(kind, prefix) {
			return true
		}
	}
	return false
}

// offers reports whether a tool of this name, or any for "", may be called.
func (q *ask) offers(name string) bool {
	for _, t := range q.tools {
		if !t.server && (name == "" || t.name == name) {
			return true
		}
	}
	return false
}
