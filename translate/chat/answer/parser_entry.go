package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
)

// entry contains the members of one element of tool_calls: raw strings, nil for absent
// ones.
type entry struct {
	index    int64 // -1 for none
	id, name []byte
	args     []byte // a string, or any other value
	argsAt   jsonscan.Slot
	custom   bool
}

// inCall is the path of the members of a call.
const inCall = inMessage + "tool_calls[*]."

func readEntry(p *openai.Parser, c *jsonscan.Cursor) entry {
	e := entry{index: -1}
	c.EnterObject()
	for c.Member() {
		switch string(c.Name()) {
		case "index":
			e.index = readIndex(c)
		case "id":
			e.id, _ = openai.StringWithSlot(c)
		case "function":
			e.readFunction(p, c, inCall+"function.")
		case "custom":
			e.custom = c.Kind() == jsonscan.Object
			e.readFunction(p, c, inCall+"custom.")
		case "type":
			c.Skip()
		default:
			p.DropMember(inCall, c)
		}
	}
	return e
}

// readIndex consumes the index of an entry. It returns -1 for an invalid index.
func readIndex(c *jsonscan.Cursor) int64 {
	n, exact, ok := c.Int()
	if !ok {
		c.Skip()
	}
	if !exact || n < 0 {
		return -1
	}
	return n
}

// slot returns the position of the arguments in later chunks of the same shape, whose
// call must follow from the index alone.
func (e *entry) slot() jsonscan.Slot {
	if e.index < 0 || len(e.name) > len(`""`) {
		return jsonscan.Slot{}
	}
	return e.argsAt
}

// readFunction reads the called function or tool; path is the path of its members.
func (e *entry) readFunction(p *openai.Parser, c *jsonscan.Cursor, path string) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "name":
			e.name, _ = openai.StringWithSlot(c)
		case "arguments", "input":
			e.readArguments(c)
		default:
			p.DropMember(path, c)
		}
	}
}

// readArguments reads a fragment of arguments, or all arguments. Some servers send an
// object instead of a string.
func (e *entry) readArguments(c *jsonscan.Cursor) {
	if c.Kind() == jsonscan.String {
		e.args, e.argsAt = openai.StringWithSlot(c)
		return
	}
	null := c.Kind() == jsonscan.Null
	if e.args = c.Skip(); null {
		e.args = nil
	}
}
