package answer

import (
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/toolcall"
)

// toolCall is the state of the open tool call.
type toolCall struct {
	args    toolcall.Arguments
	held    []byte // arguments that were not written yet
	passing bool   // arguments are written immediately
}

var errCustom = errors.New("a custom tool call")

// startTool begins a tool call.
func (m *Emitter) startTool(e *event.Event) {
	m.close()
	m.out.openTool(m.showID(e.ID), m.context.ToolName(e.Name))
	m.open, m.call, m.hasCalls = toolUseBlock, toolCall{held: m.call.held[:0]}, true
}

// showID returns the id of a call for the client: the id of the provider, encoded if the
// format does not allow its characters, or a new id if the provider sent none.
func (m *Emitter) showID(id []byte) []byte {
	if len(id) == 0 {
		id = []byte(m.ids.NewToolID())
	}
	return m.shown.Show(id, toolcall.AppendID)
}

// addArguments writes arguments of the open call. Arguments that do not begin like an
// object are held until the end of the call, where they can become an object.
func (m *Emitter) addArguments(fragment []byte) {
	c := &m.call
	if c.passing {
		m.out.input(fragment)
		return
	}
	c.args.Add(fragment)
	c.held = append(c.held, fragment...)
	switch {
	case m.out.streams() && c.args.IsObject():
		c.passing = true
		m.out.input(c.held)
	case len(c.held) > m.context.Room():
		m.fault = fault.Unusable(fmt.Errorf("more than %d bytes of arguments", m.context.Room()))
	}
}

// endTool completes the open call. A call without arguments gets an empty object.
func (m *Emitter) endTool() {
	if c := &m.call; !c.passing {
		m.out.input(toolcall.AppendArguments(nil, c.held, m.reason == event.FinishLength))
	}
}
