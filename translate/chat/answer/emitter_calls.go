package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// toolCall is the state of a tool call.
type toolCall struct {
	known    bool
	custom   bool
	id, name []byte // nil after they were streamed
	args     []byte // of a JSON answer, escaped
}

var errUnknown = errors.New("arguments of a tool call that was not begun")

// startTool begins a call, once.
func (m *Emitter) startTool(c *choice, e *event.Event) {
	for len(c.calls) <= e.Tool {
		c.calls = append(c.calls, toolCall{})
	}
	call := &c.calls[e.Tool]
	if call.known {
		return
	}
	*call = toolCall{known: true, custom: e.Custom, id: c.ids.Show(e.ID, m.IDs.NewToolID, toolcall.AsIs, m.Context.Input.Calls), name: append([]byte(nil), m.Context.Tools.Of(e.Name)...)}
	if m.Context.Stream {
		m.writeTool(e, call)
	}
}

// writeTool writes the chunk that begins a call. Later chunks identify the call by its
// index, so its id and name are no longer needed.
func (m *Emitter) writeTool(e *event.Event, call *toolCall) {
	m.open(e.Choice)
	m.Written = jsonscan.AppendCount(m.Written, `"tool_calls":[{"index":`, int64(e.Tool))
	m.Written = append(m.Written, ',')
	m.Written = call.append(m.Written)
	m.Written = append(m.Written, ']')
	m.close("")
	call.id, call.name = nil, nil
}

// append appends a call without its opening brace, with the arguments known so far.
func (t *toolCall) append(dst []byte) []byte {
	kind, args := "function", "arguments"
	if t.custom {
		kind, args = "custom", "input"
	}
	dst = jsonscan.AppendString(append(dst, `"id":`...), t.id)
	dst = jsonscan.AppendString(append(dst, `,"type":"`+kind+`","`+kind+`":{"name":`...), t.name)
	dst = append(dst, `,"`+args+`":"`...)
	dst = append(dst, t.args...)
	return append(dst, `"}}`...)
}

// addArguments writes a fragment of arguments.
func (m *Emitter) addArguments(c *choice, e *event.Event) {
	if e.Tool >= len(c.calls) || !c.calls[e.Tool].known {
		m.Fail(errUnknown)
		return
	}
	call := &c.calls[e.Tool]
	if !m.Context.Stream {
		call.args = jsonscan.AppendEscaped(call.args, e.Text)
		return
	}
	m.open(e.Choice)
	m.Written = jsonscan.AppendCount(m.Written, `"tool_calls":[{"index":`, int64(e.Tool))
	if call.custom {
		m.Written = append(m.Written, `,"custom":{"input":"`...)
	} else {
		m.Written = append(m.Written, `,"function":{"arguments":"`...)
	}
	m.Written = append(jsonscan.AppendEscaped(m.Written, e.Text), `"}}]`...)
	m.close("")
}
