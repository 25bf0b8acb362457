package pairs

import (
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// toolCalls bounds the tool calls of an answer, of all choices together. Their
// fragments may come in any order, so each is remembered to the end, and so is its
// id, which no other may have.
type toolCalls struct {
	count int
	room  int // bytes of ids and names that may still come
}

// maxToolCalls is how many tool calls an answer may have.
const maxToolCalls = 4096

var (
	errManyCalls = fmt.Errorf("more than %d tool calls", maxToolCalls)
	errLongCalls = errors.New("ids and names of tool calls beyond the limit of an event")
)

// add counts a call. It returns the fault of an answer that has too many.
func (c *toolCalls) add(e *event.Event) *fault.Fault {
	c.count++
	c.room -= len(e.ID) + len(e.Name)
	switch {
	case c.count > maxToolCalls:
		return fault.Unusable(errManyCalls)
	case c.room < 0:
		return fault.Unusable(errLongCalls)
	}
	return nil
}
