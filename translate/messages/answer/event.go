package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// wireEvent is what the gateway reads of the data of one event.
type wireEvent struct {
	model    []byte // as it is written, quotes included; nil for none
	content  bool   // a block or a delta that is not empty
	finished bool   // the reason why the turn ended
	hasUsage bool
}

// name is the name of the model, "" for none.
func (e *wireEvent) name() string {
	if e.model == nil {
		return ""
	}
	return string(jsonscan.AppendText(nil, e.model))
}

// member reads a member of an event. The kinds of events have no member in
// common that would mean something else in another.
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

// blockHasContent reads the block of a content_block_start. Texts and thinking
// begin empty as a rule; whatever else is begun, a tool call for instance, says
// something by beginning.
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
