package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return choices.NewObserver(content) }

// content reads a member of a choice. Some servers send a whole message in
// place of a delta.
func content(c *jsonscan.Cursor) (found bool) {
	switch string(c.Name()) {
	case "delta", "message":
	default:
		c.Skip()
		return false
	}
	for c.OpenObject(); c.Member(); {
		found = deltaMember(c) || found
	}
	return found
}

// deltaMember reads a member of a delta and reports whether it is content.
func deltaMember(c *jsonscan.Cursor) bool {
	switch string(c.Name()) {
	case "content", "reasoning_content", "reasoning", "refusal",
		"tool_calls", "thinking_blocks", "function_call", "audio":
		return !empty(c)
	default:
		c.Skip()
		return false
	}
}

// empty reads a value and reports whether it says nothing: a null, a false, or
// something without any text, elements or members.
func empty(c *jsonscan.Cursor) bool {
	n := 0
	switch c.Kind() {
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); n++ {
			c.Skip()
		}
	case jsonscan.Object:
		for c.EnterObject(); c.Member(); n++ {
			c.Skip()
		}
	default:
		switch string(c.Skip()) {
		case "", "null", "false", `""`:
		default:
			n++
		}
	}
	return n == 0
}
