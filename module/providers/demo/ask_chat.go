package demo

import (
	"encoding/json"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// chatFields are the members of a chat request.
var chatFields = []string{
	"model", "messages", "max_completion_tokens", "max_tokens", "temperature", "top_p", "n", "stop",
	"stream", "stream_options", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs",
	"top_logprobs", "seed", "tools", "tool_choice", "parallel_tool_calls", "functions",
	"function_call", "response_format", "reasoning_effort", "verbosity", "user", "safety_identifier",
	"prompt_cache_key", "metadata", "service_tier", "store", "modalities", "audio", "prediction",
	"web_search_options", "moderation", "prompt_cache_options", "prompt_cache_retention",
}

// parseChat reads a chat request.
func parseChat(src *source, body []byte) (*ask, *refusal) {
	o := src.body(body)
	o.known(chatFields...)
	q := &ask{format: translate.Chat, logprobs: -1}
	q.model = o.need("model")
	q.readTurns(o)
	q.readSampling(o)
	q.limit = budget(o.integer("max_tokens", 1, -1))
	if o.has("max_completion_tokens") {
		if o.has("max_tokens") {
			o.fail("max_tokens", "cannot be used together with max_completion_tokens")
		}
		q.limit = budget(o.integer("max_completion_tokens", 1, -1))
	}
	q.readChatTools(o)
	q.readChatLogprobs(o)
	effort := o.oneOf("reasoning_effort", "none", "minimal", "low", "medium", "high", "xhigh", "max")
	q.reason = effort != "" && effort != "none"
	return q, src.fault
}

// readSampling reads what chat and completions have in common.
func (q *ask) readSampling(o object) {
	o.number("temperature", 0, 2)
	o.number("top_p", 0, 1)
	o.number("presence_penalty", -2, 2)
	o.number("frequency_penalty", -2, 2)
	o.sub("logit_bias")
	q.n = o.integer("n", 1, 1)
	if q.n > 128 {
		o.fail("n", "must be at most 128")
		q.n = 1
	}
	q.stops = o.strings("stop", true)
	if len(q.stops) > 4 {
		o.fail("stop", "must hold at most 4 strings")
	}
	q.stream = o.flag("stream")
	if options, there := o.sub("stream_options"); there {
		options.known("include_usage", "include_obfuscation")
		q.includeUsage = options.flag("include_usage")
		if !q.stream {
			o.fail("stream_options", "only allowed when stream is true")
		}
	}
}

func (q *ask) readChatLogprobs(o object) {
	wanted := o.flag("logprobs")
	top := o.integer("top_logprobs", 0, -1)
	if top >= 0 && !wanted {
		o.fail("top_logprobs", "only allowed when logprobs is true")
	}
	if wanted {
		q.logprobs = max(top, 0)
	}
}

func (q *ask) readChatTools(o object) {
	if o.has("tools") && len(o.items("tools")) == 0 {
		o.fail("tools", "must hold at least one tool")
	}
	o.each("tools", q.readChatTool)
	if o.has("parallel_tool_calls") {
		q.choice.single = !o.flag("parallel_tool_calls")
		if len(q.tools) == 0 {
			o.fail("parallel_tool_calls", "only allowed when tools are given")
		}
	}
	q.readChatChoice(o)
}

func (q *ask) readChatTool(t object) {
	kind := t.oneOf("type", "function", "custom")
	t.known("type", kind)
	inner, there := t.sub(kind)
	if kind == "" || !there {
		t.fail("type", "required, with a member of that name")
		return
	}
	inner.known("name", "description", "parameters", "strict", "format")
	name := inner.need("name")
	if len(name) > 64 || strings.Trim(name, toolNameLetters) != "" {
		inner.fail("name", "must match ^[a-zA-Z0-9_-]{1,64}$")
	}
	inner.sub("parameters")
	whole, _ := json.Marshal(t.members) // raw messages always encode
	q.addTool(tool{name: name, schema: inner.raw("parameters"), custom: kind == "custom"}, whole)
}

const toolNameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func (q *ask) readChatChoice(o object) {
	if !o.has("tool_choice") {
		return
	}
	if len(q.tools) == 0 {
		o.fail("tool_choice", "only allowed when tools are given")
	}
	if quoted(o.raw("tool_choice")) {
		q.choice.mode = o.oneOf("tool_choice", "none", "auto", "required")
	} else {
		q.readNamedChoice(o)
	}
	if q.choice.mode == "required" {
		q.choice.mode = "any"
	}
	if q.choice.mode == "any" && !q.offers(q.choice.name) {
		o.fail("tool_choice", "no such tool is offered")
	}
}

func (q *ask) readNamedChoice(o object) {
	c, _ := o.sub("tool_choice")
	kind := c.oneOf("type", "function", "custom", "allowed_tools")
	inner, there := c.sub(kind)
	if !there {
		c.fail("type", "required, with a member of that name")
		return
	}
	if kind == "allowed_tools" {
		q.choice.mode = inner.oneOf("mode", "auto", "required")
		return
	}
	q.choice.mode, q.choice.name = "any", inner.need("name")
}
