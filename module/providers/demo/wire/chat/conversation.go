package chat

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// conversation reads the messages of a request.
type conversation struct {
	r     *reply.Request
	pairs wire.Pairing
}

const missingResults = "an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"

func (r *reader) messages() {
	c := &conversation{r: r.Request}
	if len(r.body.Items("messages")) == 0 {
		r.body.Fail("messages", "must hold at least one message")
	}
	r.body.Each("messages", c.message)
	if !c.pairs.Settled() {
		r.body.Fail("messages", missingResults)
	}
}

func (c *conversation) message(m wire.Object) {
	c.r.Messages++
	role := m.OneOf("role", "system", "developer", "user", "assistant", "tool", "function")
	if role == "" {
		m.Missing("role")
	}
	if role != "tool" && !c.pairs.Settled() {
		m.Refuse(missingResults, "invalid_value")
	}
	switch role {
	case "assistant":
		c.assistant(m)
	case "tool":
		c.tool(m)
	default:
		c.speaker(role, m)
	}
}

func (c *conversation) speaker(role string, m wire.Object) {
	m.Known("role", "content", "name")
	text := c.content(m, role == "user")
	if role != "user" {
		c.r.AddSystem(text)
		return
	}
	c.r.Prompts, c.r.Results = []string{text}, nil
	c.r.AddText(text)
}

func (c *conversation) assistant(m wire.Object) {
	m.Known("role", "content", "name", "tool_calls", "refusal", "audio", "function_call", "annotations")
	c.r.Later = true
	c.r.Results = nil
	if m.Has("content") {
		c.r.AddText(c.content(m, false))
	} else if !m.Has("tool_calls") && !m.Has("function_call") && !m.Has("refusal") {
		m.Missing("content")
	}
	if m.Has("tool_calls") && len(m.Items("tool_calls")) == 0 {
		m.Fail("tool_calls", "must hold at least one call")
	}
	m.Each("tool_calls", c.call)
}

func (c *conversation) call(call wire.Object) {
	kind, inner := call.Variant("function", "custom")
	call.Known("id", "type", kind)
	inner.Need("name")
	value := "arguments"
	if kind == "custom" {
		value = "input"
	}
	if !inner.Has(value) {
		inner.Missing(value)
	}
	c.r.AddText(inner.Text(value))
	c.pairs.Call(call.Need("id"))
}

func (c *conversation) tool(m wire.Object) {
	m.Known("role", "content", "tool_call_id")
	if !c.pairs.Result(m.Need("tool_call_id")) {
		m.Fail("tool_call_id", "must answer a call of the assistant message before")
	}
	result := c.content(m, false)
	c.r.Prompts = nil // the answer is about the result, and no longer about the prompt
	c.r.Results = append(c.r.Results, result)
	c.r.AddText(result)
}

// content returns the joined texts of a message. It refuses media unless media is true.
func (c *conversation) content(m wire.Object, media bool) string {
	if !m.Has("content") {
		m.Missing("content")
	}
	if wire.Quoted(m.Raw("content")) {
		return m.Text("content")
	}
	var texts []string
	m.Each("content", func(p wire.Object) {
		switch kind := p.Need("type"); {
		case kind == "text" || kind == "refusal":
			p.Known("type", kind, "prompt_cache_breakpoint")
			texts = append(texts, p.Text(kind))
		case media && (kind == "image_url" || kind == "input_audio" || kind == "file"):
			p.Known("type", kind, "prompt_cache_breakpoint")
			c.media(kind, p)
		default:
			p.Fail("type", "this part is not allowed here")
		}
	})
	return strings.Join(texts, "\n")
}

func (c *conversation) media(kind string, p wire.Object) {
	inner, there := p.Sub(kind)
	if !there {
		p.Missing(kind)
		return
	}
	if kind == "image_url" {
		url := inner.Need("url")
		if !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "http") {
			inner.Fail("url", "must be an http(s) or data URL")
		}
	}
	c.r.AddMedia()
}
