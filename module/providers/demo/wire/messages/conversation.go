package messages

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// conversation reads the messages of a request.
type conversation struct {
	r     *reply.Request
	pairs wire.Pairing
	last  string // role of the message before
}

const missingResults = "tool_use ids were found without tool_result blocks immediately after"

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
	m.Known("role", "content", "output_config", "clear_at")
	c.r.Messages++
	role := m.OneOf("role", "user", "assistant", "system")
	switch role {
	case "":
		m.Missing("role")
	case "user":
		// The newest user turn is answered; consecutive ones are joined.
		if c.last != "user" {
			c.r.Prompts, c.r.Results = nil, nil
		}
	case "assistant":
		c.r.Later = true
		if c.last != "assistant" {
			c.expectSettled(m)
		}
	}
	c.content(m, role)
	if role != "system" { // a system message follows the user turn and belongs to it
		c.last = role
	}
}

func (c *conversation) expectSettled(at wire.Object) {
	if !c.pairs.Settled() {
		at.Refuse(missingResults, "")
	}
}

func (c *conversation) content(m wire.Object, role string) {
	raw := m.Raw("content")
	switch {
	case raw == nil && role == "system" && m.Has("output_config"):
	case raw == nil:
		m.Missing("content")
	case wire.Quoted(raw):
		c.text(role, m.Text("content"), m)
	default:
		m.Each("content", func(b wire.Object) { c.block(role, b) })
	}
}

// text adds a text of any role.
func (c *conversation) text(role, text string, at wire.Object) {
	switch role {
	case "system":
		c.r.AddSystem(text)
	case "user":
		c.expectSettled(at)
		c.r.Prompts = []string{text}
		c.r.AddText(text)
	default:
		c.r.AddText(text)
	}
}

func (c *conversation) block(role string, b wire.Object) {
	c.r.Marked = c.r.Marked || b.Has("cache_control")
	switch b.Need("type") {
	case "text":
		c.text(role, b.Need("text"), b)
	case "image", "document":
		c.expectSettled(b)
		c.media(b)
	case "thinking":
		c.thinking(b)
	case "redacted_thinking":
		b.Need("data")
	case "tool_use":
		c.toolUse(role, b)
	case "tool_result":
		c.toolResult(role, b)
	}
}

func (c *conversation) media(b wire.Object) {
	source, there := b.Sub("source")
	if !there {
		b.Missing("source")
	}
	switch source.Need("type") {
	case "base64":
		source.Need("media_type")
		source.Need("data")
	case "url":
		source.Need("url")
	}
	c.r.AddMedia()
}

// thinking checks that a client sends thinking back unchanged: its signature covers it.
func (c *conversation) thinking(b wire.Object) {
	text, signature := b.Text("thinking"), b.Text("signature")
	if b.Strict() && !reply.Signed(text, signature) {
		b.Fail("signature", "invalid signature in thinking block")
	}
	c.r.AddText(text)
}

func (c *conversation) toolUse(role string, b wire.Object) {
	if role != "assistant" {
		b.Fail("type", "tool_use blocks are only allowed in assistant messages")
	}
	id := b.Need("id")
	if !wire.IsWord(id) {
		b.Fail("id", "must match ^[a-zA-Z0-9_-]+$")
	}
	b.Need("name")
	if _, there := b.Sub("input"); !there {
		b.Missing("input")
	}
	c.pairs.Call(id)
	c.r.AddText(string(b.Raw("input")))
}

func (c *conversation) toolResult(role string, b wire.Object) {
	if role != "user" {
		b.Fail("type", "tool_result blocks are only allowed in user messages")
	}
	if !c.pairs.Result(b.Need("tool_use_id")) {
		b.Fail("tool_use_id", "unexpected tool_use_id found in tool_result blocks")
	}
	b.Flag("is_error")
	result := c.resultText(b)
	c.r.Results = append(c.r.Results, result)
	c.r.AddText(result)
}

// resultText returns the joined texts of a tool result.
func (c *conversation) resultText(b wire.Object) string {
	if wire.Quoted(b.Raw("content")) {
		return b.Text("content")
	}
	var texts []string
	b.Each("content", func(part wire.Object) {
		switch part.Need("type") {
		case "text":
			texts = append(texts, part.Text("text"))
		case "image", "document":
			c.media(part)
		}
	})
	return strings.Join(texts, "\n")
}
