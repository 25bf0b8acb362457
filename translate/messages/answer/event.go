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

	text  token.Text    // of a block or a delta
	texts int           // the number of strings in text
	at    jsonscan.Slot // the position of the last one
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
func (e *wireEvent) member(c *jsonscan.Cursor, usage *token.Report) {
	switch string(c.Name()) {
	case "message":
		e.message(c, usage)
	case "content_block":
		e.content = e.block(c)
	case "delta":
		e.delta(c)
	case "usage":
		e.hasUsage = usage.Read(c, usageRows) || e.hasUsage
	default:
		c.Skip()
	}
}

// message reads the message of a message_start.
func (e *wireEvent) message(c *jsonscan.Cursor, usage *token.Report) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "model":
			e.model = c.StringOrSkip()
		case "usage":
			e.hasUsage = usage.Read(c, usageRows) || e.hasUsage
		default:
			c.Skip()
		}
	}
}

// block consumes the block of a content_block_start and reports whether the block is
// content. Texts and thinking usually begin empty; all other blocks, such as tool calls,
// are content from the beginning.
func (e *wireEvent) block(c *jsonscan.Cursor) bool {
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
		case "text", "thinking":
			found = e.readText(c) || found
		case "signature":
			found = len(c.StringOrSkip()) > len(`""`) || found
		case "input":
			if input := c.Skip(); !jsonscan.Blank(input) {
				e.text.Add(input)
			}
		default:
			c.Skip()
		}
	}
	return fills || found
}

// readText consumes a string of the answer's text, and reports whether it is not empty.
func (e *wireEvent) readText(c *jsonscan.Cursor) bool {
	start := c.Offset()
	raw := c.StringOrSkip()
	e.text.AddString(raw)
	e.texts++
	e.at = jsonscan.Slot{Start: start, End: c.Offset()}
	return len(raw) > len(`""`)
}

// delta reads the delta of a content_block_delta or a message_delta.
func (e *wireEvent) delta(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "text", "thinking", "partial_json", "content": // content of a summary of the conversation
			e.content = e.readText(c) || e.content
		case "signature":
			e.content = len(c.StringOrSkip()) > len(`""`) || e.content
		case "stop_reason":
			e.finished = c.StringOrSkip() != nil
		default:
			c.Skip()
		}
	}
}
