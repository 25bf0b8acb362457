package messages

import (
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// toolCall is what is known of a tool call.
type toolCall struct {
	known   bool
	id      []byte // as the client sees it; nil, like the name, once they were written
	name    []byte
	args    translate.Arguments
	held    []byte // arguments that were not written yet
	passing bool   // its arguments are written as they come
	ended   bool   // no more of it will come
	closed  bool
}

// segment is a block, or the beginning of one, that waits for its turn.
type segment struct {
	kind      blockKind
	tool      int
	data      []byte // text, thinking, or redacted data
	signature []byte
	ended     bool // what follows is another block
}

var (
	errCustom  = errors.New("a custom tool call")
	errClosed  = errors.New("arguments behind the end of their tool call")
	errUnknown = errors.New("arguments of a tool call that was not begun")
)

// startTool begins a tool call, or queues it behind one that is open.
func (m *Emitter) startTool(e *translate.Event) {
	if e.Custom {
		m.fault = translate.Unusable(errCustom)
		return
	}
	for len(m.calls) <= e.Tool {
		m.calls = append(m.calls, toolCall{})
	}
	c := &m.calls[e.Tool]
	if c.known {
		return
	}
	*c = toolCall{known: true, id: m.showID(e.ID), name: m.originalName(e.Name)}
	m.called = true
	m.push(segment{kind: toolUseBlock, tool: e.Tool})
	m.advance()
}

// originalName is the name by which the client knows a tool.
func (m *Emitter) originalName(name []byte) []byte {
	if original, ok := m.memory.Names[string(name)]; ok {
		return []byte(original)
	}
	return append([]byte(nil), name...)
}

// showID is the id by which the client knows a call: the provider's, written so
// that the format allows it, or a new one where the provider gave none.
func (m *Emitter) showID(id []byte) []byte {
	if len(id) == 0 {
		id = []byte(m.ids.NewToolID())
	}
	return m.shown.Show(id, translate.AppendToolID)
}

// addArguments writes a fragment of arguments, or keeps it until its call is
// the open one.
func (m *Emitter) addArguments(e *translate.Event) {
	if e.Tool >= len(m.calls) || !m.calls[e.Tool].known {
		m.fault = translate.Unusable(errUnknown)
		return
	}
	c := &m.calls[e.Tool]
	if c.closed {
		if !blank(e.Text) {
			m.fault = translate.Unusable(errClosed)
		}
		return
	}
	c.args.Add(e.Text)
	if m.open == toolUseBlock && m.current == e.Tool {
		m.writeArguments(c, e.Text)
	} else {
		c.held = append(c.held, e.Text...)
		m.hold(len(e.Text))
	}
	if len(m.queue) > 0 {
		m.advance()
	}
}

// writeArguments writes arguments of the open call. Those that do not begin
// like an object are held until all of them can be made one.
func (m *Emitter) writeArguments(c *toolCall, fragment []byte) {
	if c.passing {
		m.out.input(fragment)
		return
	}
	c.held = append(c.held, fragment...)
	if m.out.streams() && c.args.IsObject() {
		c.passing = true
		m.out.input(c.held)
		c.held = nil
		return
	}
	m.hold(len(fragment))
}

// endTool notes that no more of a call will come.
func (m *Emitter) endTool(e *translate.Event) {
	if e.Tool < len(m.calls) {
		m.calls[e.Tool].ended = true
		m.advance()
	}
}

// closeTool completes the open call: a call without arguments has an empty
// object for them.
func (m *Emitter) closeTool() {
	c := &m.calls[m.current]
	if !c.passing {
		m.out.input(translate.AppendArguments(nil, c.held, m.reason == translate.FinishLength))
		m.held -= len(c.held)
	}
	c.closed, c.held = true, nil
}

// advance writes what waits, as far as the open call lets it. A call is over
// when it was ended, or when something waits behind it and its arguments are
// complete: not all providers say when a call ends.
func (m *Emitter) advance() {
	for m.fault == nil {
		if m.open == toolUseBlock {
			c := &m.calls[m.current]
			if !c.ended && (len(m.queue) == 0 || !c.args.Complete()) {
				return
			}
			m.close()
		}
		if len(m.queue) == 0 {
			return
		}
		s := m.queue[0]
		m.queue = m.queue[1:]
		m.write(&s)
	}
}

// write writes a segment whose turn has come.
func (m *Emitter) write(s *segment) {
	m.held -= len(s.data) + len(s.signature)
	switch s.kind {
	case textBlock:
		m.writeText(s.data)
	case thinkingBlock:
		m.writeThinking(s)
	case redactedThinkingBlock:
		m.close()
		m.out.redacted(s.data)
	case toolUseBlock:
		m.openTool(s.tool)
	}
	if s.ended {
		m.close()
	}
}

func (m *Emitter) writeThinking(s *segment) {
	if len(s.data) > 0 {
		m.writeReasoning(s.data)
	}
	if s.signature != nil {
		m.writeSignature(s.signature)
	}
}

func (m *Emitter) openTool(tool int) {
	m.close()
	c := &m.calls[tool]
	m.out.openTool(c.id, c.name)
	c.id, c.name = nil, nil
	m.open, m.current = toolUseBlock, tool
	if held := c.held; len(held) > 0 {
		c.held = nil
		m.held -= len(held)
		m.writeArguments(c, held)
	}
}

// push queues a segment.
func (m *Emitter) push(s segment) {
	m.queue = append(m.queue, s)
	m.hold(len(s.data))
}

// hold counts bytes that wait.
func (m *Emitter) hold(n int) {
	if m.held += n; m.held > m.memory.Room() {
		m.fault = translate.Unusable(fmt.Errorf("more than %d bytes behind an open tool call", m.memory.Room()))
	}
}

// lastSegment is the last segment that waits, if it is of that kind and what
// comes may still be a part of it.
func (m *Emitter) lastSegment(kind blockKind) *segment {
	if len(m.queue) == 0 {
		return nil
	}
	if s := &m.queue[len(m.queue)-1]; s.kind == kind && !s.ended {
		return s
	}
	return nil
}
