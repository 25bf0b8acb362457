package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return choices.NewObserver(content) }

// content reads a member of a choice. Some servers send a whole message instead of a
// delta.
func content(c *jsonscan.Cursor) (found bool, text jsonscan.Slot) {
	switch string(c.Name()) {
	case "delta", "message":
	default:
		c.Skip()
		return false, text
	}
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "content", "reasoning_content", "reasoning", "refusal",
			"tool_calls", "thinking_blocks", "function_call", "audio":
			if is, at := nonEmpty(c); is {
				found, text = true, at
			}
		default:
			c.Skip()
		}
	}
	return found, text
}

// nonEmpty consumes a value and reports whether it is content: neither null nor false,
// nor an empty string, array or object. text is the position of the last string that is
// not empty.
func nonEmpty(c *jsonscan.Cursor) (found bool, text jsonscan.Slot) {
	switch c.Kind() {
	case jsonscan.String:
		raw, at := choices.StringWithSlot(c)
		if found = len(raw) > len(`""`); found {
			text = at
		}
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); found = true {
			text = textOr(c, text)
		}
	case jsonscan.Object:
		for c.EnterObject(); c.Member(); found = true {
			text = textOr(c, text)
		}
	default:
		raw := c.Skip()
		found = raw != nil && string(raw) != "null" && string(raw) != "false"
	}
	return found, text
}

// textOr consumes a value and returns the position of its text, before if it has none.
func textOr(c *jsonscan.Cursor, before jsonscan.Slot) jsonscan.Slot {
	if _, text := nonEmpty(c); text != (jsonscan.Slot{}) {
		return text
	}
	return before
}
