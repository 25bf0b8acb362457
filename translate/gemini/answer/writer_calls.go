package answer

import (
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// pendingCall is a tool call that was not written yet. Clients run every call that they read,
// so a call is written only when it is certain that the token limit did not cut it off.
type pendingCall struct {
	ids   *toolcall.IDs // of the calls of all candidates
	head  []byte        // the part up to the arguments
	args  []byte
	ended bool // it has ended without arguments, where the limit may have cut it off
}

var errCustom = errors.New("a custom tool call")

// startCall begins a call.
func (m *writer) startCall(e *event.Event) {
	if e.Custom {
		m.Fail(errCustom)
		return
	}
	c := &m.call
	id := c.ids.Show(e.ID, m.IDs.NewToolID, toolcall.AsIs, m.Context.Input.Calls)
	c.head = jsonscan.AppendString(append(c.head[:0], `{"functionCall":{"id":`...), id)
	c.head = jsonscan.AppendString(append(c.head, `,"name":`...), m.Context.Tools.Of(e.Name))
	c.args = c.args[:0]
}

// addArguments keeps a fragment of arguments.
func (m *writer) addArguments(fragment []byte) {
	m.call.args = append(m.call.args, fragment...)
	if len(m.call.args) > m.Context.Room() {
		m.Fail(fmt.Errorf("more than %d bytes of arguments", m.Context.Room()))
	}
}

// endCall ends a call. One whose arguments break off ends only at the end of the answer.
func (m *writer) endCall() {
	c := &m.call
	object, whole := toolcall.Object(c.args)
	switch {
	case !whole && m.Ending.Reason.CutsOff():
		m.Drop("tool_calls")
		return
	case whole && string(object) == "{}":
		c.args = append(c.args[:0], object...)
	default:
		c.args = toolcall.AppendArguments(nil, c.args, false)
	}
	c.ended = true
	if len(c.args) > len("{}") {
		m.writeCall()
	}
}

// writeCall writes the call that has ended, if there is one.
func (m *writer) writeCall() {
	c := &m.call
	if !c.ended {
		return
	}
	c.ended = false
	c.head = jsonscan.AppendCompact(append(c.head, `,"args":`...), c.args)
	c.head = append(m.thinking.appendSeal(append(c.head, '}'), m.Context), '}')
	m.other(c.head)
}

// endLastCall writes the call that has ended last, or leaves it out if the end of the turn may
// have cut it off.
func (m *writer) endLastCall(reason event.FinishReason) {
	if m.call.ended && reason.CutsOff() {
		m.Drop("tool_calls")
		m.call.ended = false
	}
	m.writeCall()
}
