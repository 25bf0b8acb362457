package pairs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
)

// made is what an answer contains so far. It decides whether an end is the end of an answer.
type made struct {
	answers *format.Answers // of the client
	placed  bool            // there is content that has a place
	calls   []madeCall
	room    int    // bytes of ids and names of further calls
	ended   uint64 // the choices whose ends are known, a bit for each of the first
}

// maxEnds bounds the choices whose ends are known.
const maxEnds = 64

// madeCall is a call of a tool in an answer.
type madeCall struct {
	choice, tool int
	free         bool // the arguments are a free text
	ended        bool // the provider has stated the end of the call
	args         toolcall.Arguments
}

// note adds an event to the content.
func (m *made) note(e *event.Event) {
	m.placed = m.placed || m.answers.Place(e)
	switch e.Kind {
	case event.ToolStart:
		m.calls = append(m.calls, madeCall{choice: e.Choice, tool: e.Tool, free: e.Custom})
	case event.ToolArgs, event.ToolEnd:
		for i := range slices.Backward(m.calls) { // nearly always the last one
			if c := &m.calls[i]; c.tool == e.Tool && c.choice == e.Choice {
				c.args.Add(e.Text)
				c.ended = c.ended || e.Kind == event.ToolEnd
				break
			}
		}
	case event.Finish:
		m.ended |= 1 << e.Choice
	}
}

// open reports whether a call of a choice is certainly not complete. doubtful reports that
// a call without arguments, or with a free text, may not be complete either.
func (c *madeCall) open(doubtful bool) bool {
	return c.args.Open() || doubtful && !c.ended && (c.free || !c.args.Complete())
}

// check notes an event, and returns why an answer with such an end is none: a provider that ends
// a turn with a word that the gateway does not know may have broken it off, and an answer of which
// the client would get nothing is no empty answer.
func (t *Translator) check(e *event.Event) *fault.Fault {
	m := &t.made
	m.note(e)
	if t.native {
		return nil
	}
	if e.Tier > event.TierStandard && m.answers.Tiers[e.Tier] == "" {
		t.missing.DropNamed("service_tier=", []byte(e.Tier.String()))
	}
	switch e.Kind {
	case event.Finish:
		unknown := e.Finish == event.FinishUnknown && len(e.Name) > 0
		switch {
		case unknown && (!m.placed && t.Losses().Content() == "" || m.isOpen(e.Choice, true)):
			return fault.BrokenOff(string(e.Name), "")
		case e.Finish == event.FinishPaused && m.isOpen(e.Choice, false):
			return fault.Truncated(nil)
		}
		if e.Finish != event.FinishFiltered && t.parser.Finished(t.context.Asked()) {
			return t.checkPlaced()
		}
	case event.End:
		for i := range m.calls {
			if c := &m.calls[i]; c.choice < maxEnds && m.ended>>c.choice&1 == 0 && c.open(false) {
				return fault.Truncated(nil)
			}
		}
		if m.ended == 0 {
			return cmp.Or(t.checkPlaced(), m.checkBegun())
		}
	}
	return nil
}

// isOpen reports whether a choice has an open call.
func (m *made) isOpen(choice int, doubtful bool) bool {
	return slices.ContainsFunc(m.calls, func(c madeCall) bool { return c.choice == choice && c.open(doubtful) })
}

// checkPlaced returns a fault if all content of the answer has no place in the client's format.
func (t *Translator) checkPlaced() *fault.Fault {
	if t.made.placed {
		return nil
	}
	if lost := t.Losses().Content(); lost != "" {
		return fault.Unplaced(lost)
	}
	return nil
}

// checkBegun returns a fault if an answer that states no end has no content either: nothing says that
// the model has answered.
func (m *made) checkBegun() *fault.Fault {
	if m.placed {
		return nil
	}
	return fault.Truncated(nil)
}

// maxToolCalls is the greatest number of tool calls in an answer, of all choices together.
const maxToolCalls = 4096

var (
	errManyCalls = fmt.Errorf("more than %d tool calls", maxToolCalls)
	errLongCalls = errors.New("ids and names of tool calls beyond the limit of an event")
)

// count counts a tool call, and returns a fault if the answer has too many. Each call is kept in
// memory until the end, since its fragments may come in any order and since no other call may
// have its id.
func (m *made) count(e *event.Event) *fault.Fault {
	m.room -= len(e.ID) + len(e.Name)
	switch {
	case len(m.calls) > maxToolCalls:
		return fault.Unusable(errManyCalls)
	case m.room < 0:
		return fault.Unusable(errLongCalls)
	}
	return nil
}
