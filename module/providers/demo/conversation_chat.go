package demo

import "strings"

// turns walks over the messages of a chat request.
type turns struct {
	q     *ask
	pairs pairing
}

func (q *ask) readTurns(o object) {
	t := &turns{q: q}
	if len(o.items("messages")) == 0 {
		o.fail("messages", "must hold at least one message")
	}
	o.each("messages", t.message)
	if !t.pairs.settled() {
		o.fail("messages", unansweredCalls)
	}
}

const unansweredCalls = "an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"

func (t *turns) message(m object) {
	t.q.messages++
	role := m.oneOf("role", "system", "developer", "user", "assistant", "tool", "function")
	if role == "" {
		m.src.fail(m.at("role"), "required", "missing_required_parameter")
	}
	if role != "tool" && !t.pairs.settled() {
		m.src.fail(m.path, unansweredCalls, "invalid_value")
	}
	switch role {
	case "assistant":
		t.assistant(m)
	case "tool":
		t.tool(m)
	default:
		t.speaker(role, m)
	}
}

func (t *turns) speaker(role string, m object) {
	m.known("role", "content", "name")
	text := t.content(m, role == "user")
	if role != "user" {
		t.q.addSystem(text)
		return
	}
	t.q.prompts, t.q.results = []string{text}, nil
	t.q.text(text)
}

func (t *turns) assistant(m object) {
	m.known("role", "content", "name", "tool_calls", "refusal", "audio", "function_call", "annotations")
	t.q.later = true
	t.q.results = nil
	if m.has("content") {
		t.q.text(t.content(m, false))
	} else if !m.has("tool_calls") && !m.has("function_call") && !m.has("refusal") {
		m.src.fail(m.at("content"), "required", "missing_required_parameter")
	}
	if m.has("tool_calls") && len(m.items("tool_calls")) == 0 {
		m.fail("tool_calls", "must hold at least one call")
	}
	m.each("tool_calls", t.call)
}

func (t *turns) call(c object) {
	kind := c.oneOf("type", "function", "custom")
	c.known("id", "type", kind)
	inner, there := c.sub(kind)
	if kind == "" || !there {
		c.fail("type", "required, with a member of that name")
		return
	}
	inner.need("name")
	value := "arguments"
	if kind == "custom" {
		value = "input"
	}
	if !inner.has(value) {
		inner.src.fail(inner.at(value), "required", "missing_required_parameter")
	}
	t.q.text(inner.text(value))
	t.pairs.call(c.need("id"))
}

func (t *turns) tool(m object) {
	m.known("role", "content", "tool_call_id")
	if !t.pairs.result(m.need("tool_call_id")) {
		m.fail("tool_call_id", "must answer a call of the assistant message before")
	}
	result := t.content(m, false)
	t.q.prompts = nil // what the user asked for was done by the call
	t.q.results = append(t.q.results, result)
	t.q.text(result)
}

// content joins the texts of a message; media only where it may stand.
func (t *turns) content(m object, media bool) string {
	if !m.has("content") {
		m.src.fail(m.at("content"), "required", "missing_required_parameter")
	}
	if quoted(m.raw("content")) {
		return m.text("content")
	}
	var texts []string
	m.each("content", func(p object) {
		switch kind := p.need("type"); {
		case kind == "text" || kind == "refusal":
			p.known("type", kind, "prompt_cache_breakpoint")
			texts = append(texts, p.text(kind))
		case media && (kind == "image_url" || kind == "input_audio" || kind == "file"):
			p.known("type", kind, "prompt_cache_breakpoint")
			t.media(kind, p)
		default:
			p.fail("type", "this part may not stand here")
		}
	})
	return strings.Join(texts, "\n")
}

func (t *turns) media(kind string, p object) {
	inner, there := p.sub(kind)
	if !there {
		p.src.fail(p.at(kind), "required", "missing_required_parameter")
		return
	}
	if kind == "image_url" {
		url := inner.need("url")
		if !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "http") {
			inner.fail("url", "must be an http(s) or data URL")
		}
	}
	t.q.addMedia()
}
