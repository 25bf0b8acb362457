package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// wireEvent contains the members that an observer reads from the data of one event.
type wireEvent struct {
	model    []byte // raw, quotes included; nil for none
	content  bool   // there is a block or a delta that is not empty
	finished bool   // there is a stop_reason
	hasUsage bool
}

// name returns the name of the model, "" for none.
func (e *wireEvent) name() string {
	if e.model == nil {
		return ""
	}
	return string(jsonscan.AppendText(nil, e.model))
}

// member reads a member of an event. A member has the same meaning in all kinds of
// events.
func (e *wireEvent) member(c *jsonscan.Cursor, usage *token.Usage) {
	switch string(c.Name()) {
	case "message":
		e.message(c, usage)
	case "content_block":
		e.content = blockHasContent(c)
	case "delta":
		e.delta(c)
	case "usage":
		e.hasUsage = readUsage(c, usage) || e.hasUsage
	default:
		c.Skip()
	}
}

// message reads the message of a message_start.
func (e *wireEvent) message(c *jsonscan.Cursor, usage *token.Usage) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "model":
			e.model = c.StringOrSkip()
		case "usage":
			e.hasUsage = readUsage(c, usage) || e.hasUsage
		default:
			c.Skip()
		}
	}
}

// blockHasContent consumes the block of a content_block_start and reports whether the
// block is content. Texts and thinking usually begin empty; all other blocks, such as
// tool calls, are content from the beginning.
func blockHasContent(c *jsonscan.Cursor) bool {
	if !c.EnterObject() {
		c.Skip()
		return false
	}
	fills, found := true, false
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			switch string(c.StringOrSkip()) {
			case `"text"`, `"thinking"`:
				fills = false
			}
		case "text", "thinking", "signature":
			found = len(c.StringOrSkip()) > len(`""`) || found
		default:
			c.Skip()
		}
	}
	return fills || found
}

// delta reads the delta of a content_block_delta or a message_delta.
func (e *wireEvent) delta(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "text", "thinking", "signature", "partial_json":
			e.content = len(c.StringOrSkip()) > len(`""`) || e.content
		case "stop_reason":
			e.finished = c.StringOrSkip() != nil
		default:
			c.Skip()
		}
	}
}
