package demo

import "strings"

// conversation walks over the messages of a messages request.
type conversation struct {
	q     *ask
	pairs pairing
	last  string // role of the message before
}

func (q *ask) readMessages(o object) {
	c := &conversation{q: q}
	if len(o.items("messages")) == 0 {
		o.fail("messages", "must hold at least one message")
	}
	o.each("messages", c.message)
	if !c.pairs.settled() {
		o.fail("messages", "tool_use ids were found without tool_result blocks immediately after")
	}
}

func (c *conversation) message(m object) {
	m.known("role", "content", "output_config", "clear_at")
	c.q.messages++
	role := m.oneOf("role", "user", "assistant", "system")
	switch role {
	case "":
		m.src.fail(m.at("role"), "required", "")
	case "user":
		// What is answered is the newest user turn; consecutive ones are joined.
		if c.last != "user" {
			c.q.prompts, c.q.results = nil, nil
		}
	case "assistant":
		c.q.later = true
		if c.last != "assistant" {
			c.expectSettled(m)
		}
	}
	c.content(m, role)
	if role != "system" { // it stands after the user turn and belongs to it
		c.last = role
	}
}

func (c *conversation) expectSettled(at object) {
	if !c.pairs.settled() {
		at.src.fail(at.path, "tool_use ids were found without tool_result blocks immediately after", "")
	}
}

func (c *conversation) content(m object, role string) {
	raw := m.raw("content")
	switch {
	case raw == nil && role == "system" && m.has("output_config"):
	case raw == nil:
		m.src.fail(m.at("content"), "required", "")
	case quoted(raw):
		c.text(role, m.text("content"), m)
	default:
		m.each("content", func(b object) { c.block(role, b) })
	}
}

// text takes in a text of any role.
func (c *conversation) text(role, s string, at object) {
	switch role {
	case "system":
		c.q.addSystem(s)
	case "user":
		c.expectSettled(at)
		c.q.prompts = []string{s}
		c.q.text(s)
	default:
		c.q.text(s)
	}
}

func (c *conversation) block(role string, b object) {
	c.q.marked = c.q.marked || b.has("cache_control")
	switch kind := b.need("type"); kind {
	case "text":
		c.text(role, b.need("text"), b)
	case "image", "document":
		c.expectSettled(b)
		c.media(b)
	case "thinking":
		c.thinking(b)
	case "redacted_thinking":
		b.need("data")
	case "tool_use":
		c.toolUse(role, b)
	case "tool_result":
		c.toolResult(role, b)
	}
}

func (c *conversation) media(b object) {
	source, there := b.sub("source")
	if !there {
		b.src.fail(b.at("source"), "required", "")
	}
	switch source.need("type") {
	case "base64":
		source.need("media_type")
		source.need("data")
	case "url":
		source.need("url")
	}
	c.q.addMedia()
}

// thinking may only come back as it was sent: its signature covers it.
func (c *conversation) thinking(b object) {
	text, signature := b.text("thinking"), b.text("signature")
	if b.src.strict && !signed(text, signature) {
		b.src.fail(b.at("signature"), "invalid signature in thinking block", "")
	}
	c.q.text(text)
}

func (c *conversation) toolUse(role string, b object) {
	if role != "assistant" {
		b.fail("type", "tool_use blocks may only stand in assistant messages")
	}
	id := b.need("id")
	if strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		b.fail("id", "must match ^[a-zA-Z0-9_-]+$")
	}
	b.need("name")
	if _, there := b.sub("input"); !there {
		b.src.fail(b.at("input"), "required", "")
	}
	c.pairs.call(id)
	c.q.text(string(b.raw("input")))
}

func (c *conversation) toolResult(role string, b object) {
	if role != "user" {
		b.fail("type", "tool_result blocks may only stand in user messages")
	}
	if !c.pairs.result(b.need("tool_use_id")) {
		b.fail("tool_use_id", "unexpected tool_use_id found in tool_result blocks")
	}
	b.flag("is_error")
	result := c.resultText(b)
	c.q.results = append(c.q.results, result)
	c.q.text(result)
}

// resultText joins the texts of a tool result.
func (c *conversation) resultText(b object) string {
	if quoted(b.raw("content")) {
		return b.text("content")
	}
	var texts []string
	b.each("content", func(part object) {
		switch part.need("type") {
		case "text":
			texts = append(texts, part.text("text"))
		case "image", "document":
			c.media(part)
		}
	})
	return strings.Join(texts, "\n")
}
