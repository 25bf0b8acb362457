package pairs

import (
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// toolCalls bounds the tool calls of an answer, of all choices together. Each call is
// kept in memory until the end, since its fragments may come in any order and since no
// other call may have its id.
type toolCalls struct {
	count int
	room  int // bytes of ids and names that are still allowed
}

// maxToolCalls is the greatest number of tool calls in an answer.
const maxToolCalls = 4096

var (
	errManyCalls = fmt.Errorf("more than %d tool calls", maxToolCalls)
	errLongCalls = errors.New("ids and names of tool calls beyond the limit of an event")
)

// add counts a call. It returns a fault if the answer has too many.
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
