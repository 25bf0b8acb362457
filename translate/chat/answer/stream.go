package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return openai.NewObserver(content) }

// content reads a member of a choice. Some servers send a whole message instead of a
// delta. Servers that send reasoning in several members repeat it in each, so only the
// texts of the first one count.
func content(c *jsonscan.Cursor, texts *openai.Texts) (found bool) {
	switch string(c.Name()) {
	case "delta", "message":
	default:
		c.Skip()
		return false
	}
	var reasoning openai.Texts
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "content", "refusal", "tool_calls", "function_call", "audio":
			found = nonEmpty(c, texts) || found
		case "reasoning_content", "reasoning", "thinking_blocks":
			var member openai.Texts
			found = nonEmpty(c, &member) || found
			if reasoning.Empty() {
				reasoning = member
			}
		default:
			c.Skip()
		}
	}
	texts.Add(reasoning)
	return found
}

// nonEmpty consumes the value of a member and reports whether it is content: neither null
// nor false, nor an empty string, array or object. It adds the texts in it to texts.
func nonEmpty(c *jsonscan.Cursor, texts *openai.Texts) (found bool) {
	switch c.Kind() {
	case jsonscan.String:
		if isText(c.Name()) {
			return texts.Read(c)
		}
		return len(c.StringOrSkip()) > len(`""`)
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); found = true {
			nonEmpty(c, texts)
		}
	case jsonscan.Object:
		for c.EnterObject(); c.Member(); found = true {
			nonEmpty(c, texts)
		}
	default:
		raw := c.Skip()
		found = raw != nil && string(raw) != "null" && string(raw) != "false"
	}
	return found
}

// isText reports whether the strings in a member of a message are text. The others are
// ids, names, types, signatures and sound.
func isText(member []byte) bool {
	switch string(member) {
	case "content", "refusal", "reasoning_content", "reasoning", "arguments", "input", "text", "thinking", "transcript":
		return true
	default:
		return false
	}
}
