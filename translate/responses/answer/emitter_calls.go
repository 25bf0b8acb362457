package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/toolcall"
)

// openCall is the state of the open call.
type openCall struct {
	args  toolcall.Arguments
	held  []byte // arguments that can be unwrapped only when they are complete
	holds bool   // arguments are held
}

// startCall begins a call with the name and the kind of tool in the client's request. Its
// id is that of the provider, or a new one if the provider sent none.
func (m *Emitter) startCall(e *event.Event) {
	m.close(completed)
	name := m.Context.Tools.Of(e.Name)
	tool, known := m.Context.Tools.Client[string(name)]
	if !known {
		tool.Name = string(name)
	}
	id := e.ID
	if len(id) == 0 {
		id = []byte(m.IDs.NewToolID())
	}
	id = m.calls.Show(id, func(dst, id []byte) []byte { return append(dst, id...) })
	shape := &functionShape
	switch {
	case tool.Search:
		shape = &searchShape
	case e.Custom || tool.Wrapped:
		shape = &freeShape
	}
	m.call = openCall{holds: tool.Search || tool.Wrapped && !e.Custom}
	m.items.begin(shape)
	tail := jsonscan.AppendString(append(m.items.open.tail, `,"call_id":`...), id)
	switch {
	case tool.Search:
		tail = append(tail, `,"execution":"client"`...)
	case tool.Namespace == "":
		tail = jsonscan.AppendString(append(tail, `,"name":`...), tool.Name)
	default:
		tail = jsonscan.AppendString(append(tail, `,"name":`...), tool.Name)
		tail = jsonscan.AppendString(append(tail, `,"namespace":`...), tool.Namespace)
	}
	m.items.open.tail = tail
	m.items.announce()
	if shape.text != nil {
		m.items.beginText(shape.text, 0)
	}
}

// arguments writes a fragment of the arguments, or holds the fragment.
func (m *Emitter) arguments(fragment []byte) {
	m.call.args.Add(fragment)
	if m.call.holds {
		m.call.held = append(m.call.held, fragment...)
	} else {
		m.items.fragment(fragment)
	}
}

// endCall writes the held arguments. A function without arguments gets an empty object.
func (m *Emitter) endCall() {
	it, held := &m.items.open, m.call.held
	switch {
	case it.shape == &searchShape:
		it.content.json = toolcall.AppendArguments(it.content.json, held, false)
	case held != nil:
		m.items.fragment(unwrap(held))
	case it.shape == &functionShape && m.items.native == nil && len(m.items.text.quoted) == len(`"`):
		m.items.fragment(emptyObject)
	}
	m.call.held = nil
}

// unwrap returns the free text in the arguments of a function that replaced a custom
// tool: the member "input" of an object, or its only string, or the string itself.
// Arguments that are not JSON are the free text, and all others stay as they are.
func unwrap(arguments []byte) []byte {
	c := jsonscan.New(arguments)
	value := c.Skip()
	switch {
	case c.Finish() != nil:
		return arguments
	case value[0] == '"':
		return jsonscan.AppendText(nil, value)
	}
	if text := textIn(value); text != nil {
		return jsonscan.AppendText(nil, text)
	}
	return jsonscan.AppendCompact(nil, value)
}

// textIn returns the member "input" of a valid object if it is a string, otherwise the
// only member that is a string, or nil.
func textIn(object []byte) (text []byte) {
	texts := 0
	c := jsonscan.Again(object)
	for c.EnterObject(); c.Member(); {
		input := string(c.Name()) == "input"
		raw := c.StringOrSkip()
		switch {
		case raw == nil:
		case input:
			return raw
		default:
			texts++
			text = raw
		}
	}
	if texts != 1 {
		return nil
	}
	return text
}
