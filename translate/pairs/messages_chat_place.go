package pairs

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// place is where in the body of a messages request something stands: an element
// of an array. Its paths are made only when there is something to tell.
type place struct {
	up    *place
	name  string // of the array
	index int
	depth int    // how many elements stand around it
	lost  string // the path of the element's members with "*" for indices, and a dot behind
}

// path is the path of a member of the element, or of the element itself.
func (p *place) path(member string) string {
	path := p.name + "." + strconv.Itoa(p.index)
	if p.up != nil {
		path = p.up.path(path)
	}
	if member == "" {
		return path
	}
	return path + "." + member
}

// The paths of losses.
const (
	lostRequest = ""
	lostMessage = "messages.*."
	emptyTurn   = "messages.*" // one that says nothing, and is left out
	lostBlock   = lostMessage + "content.*."
	lostTool    = "tools.*."
	lostSystem  = "system.*."
)

// lossPrefix is the path of losses in the object being read.
func (x *messagesChat) lossPrefix(level messages.Level) string {
	switch level {
	case messages.InMessage:
		return lostMessage
	case messages.InBlock:
		return x.turn.blockLost
	case messages.InSource:
		return x.turn.blockLost + "source."
	default:
		return lostTool
	}
}

// maxNesting is how deep blocks may stand in blocks: a text in a search result
// in a tool result.
const maxNesting = 2

// nested reads blocks that stand in another, or in the system prompt.
type nested struct {
	x      *messagesChat
	reader messages.Reader
	at     place // the block read last
	open   bool
}

// within reads the blocks of an array in the block at that place; content that
// is no array has none.
func (x *messagesChat) within(raw []byte, at *place, name string) *nested {
	if at.depth > maxNesting {
		x.refuse(at.path(name), "")
		return &nested{}
	}
	lost := lostBlock + "content.*."
	if name != "content" || at.lost != lostBlock {
		lost = at.lost + name + ".*."
	}
	return x.nest(at.depth-1, raw, place{up: at, name: name, depth: at.depth + 1, lost: lost})
}

// nest reads raw with the reader of a depth; the first block stands at first.
func (x *messagesChat) nest(depth int, raw []byte, first place) *nested {
	n := &x.inside[depth]
	n.x, n.at = x, first
	n.at.index--
	n.open = len(raw) > 0 && raw[0] == '[' && n.reader.Blocks(raw, x)
	return n
}

// next returns the next block, nil after the last or once something was refused.
func (n *nested) next() *messages.Block {
	if !n.open || n.x.fault != nil {
		return nil
	}
	n.at.index++
	n.x.turn.blockLost = n.at.lost
	b := n.reader.Next()
	if b != nil {
		n.x.blockStrays(b, n.at.lost)
	}
	return b
}
