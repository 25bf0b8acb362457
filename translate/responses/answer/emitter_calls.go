package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/toolcall"
)

// openCall is the state of the open call.
type openCall struct {
	words     *callWords
	id, name  []byte // escaped
	namespace []byte // escaped; nil for none
	args      toolcall.Arguments
	held      []byte // arguments that can be unwrapped only when they are complete
	holds     bool   // arguments are held
}

// callWords contains the names that depend on the kind of a call.
type callWords struct{ prefix, kind, text, event string }

var (
	functionWords = callWords{"fc_", "function_call", "arguments", "response.function_call_arguments"}
	freeWords     = callWords{"ctc_", "custom_tool_call", "input", "response.custom_tool_call_input"}
	searchWords   = callWords{"tsc_", "tool_search_call", "arguments", ""}
)

// startCall begins a call with the name and the kind of tool in the client's request.
func (m *Emitter) startCall(e *event.Event) {
	m.close(completed)
	name := m.context.Tools.Of(e.Name)
	tool, known := m.context.Tools.Client[string(name)]
	if !known {
		tool.Name = string(name)
	}
	words := &functionWords
	switch {
	case tool.Search:
		words = &searchWords
	case e.Custom || tool.Wrapped:
		words = &freeWords
	}
	m.item.reset(callItem, m.itemID(words.prefix))
	m.item.call = openCall{
		words: words, id: jsonscan.AppendEscaped(nil, m.callID(e.ID)), name: jsonscan.AppendEscaped(nil, tool.Name),
		namespace: jsonscan.AppendEscaped(nil, tool.Namespace), holds: tool.Search || tool.Wrapped && !e.Custom,
	}
	m.item.open = true
	m.begin()
	if m.context.Stream && words.event != "" {
		m.beginDeltas(words.event+".delta", "", `"}`+"\n\n")
	}
}

// callID returns the id of a call for the client: the id of the provider, or a new one if
// the provider sent none.
func (m *Emitter) callID(id []byte) []byte {
	if len(id) == 0 {
		id = []byte(m.ids.NewToolID())
	}
	return m.calls.Show(id, func(dst, id []byte) []byte { return append(dst, id...) })
}

// arguments writes a fragment of the arguments, or holds the fragment.
func (m *Emitter) arguments(fragment []byte) {
	it := &m.item
	it.call.args.Add(fragment)
	if it.call.holds {
		it.call.held = append(it.call.held, fragment...)
		return
	}
	it.text = jsonscan.AppendEscaped(it.text, fragment)
	if it.delta != nil {
		m.out = m.appendDelta(m.out, fragment)
	}
}

// callStatus returns the status of the open call at its end. At the end of an answer that
// was cut off, a call is incomplete unless its arguments are complete.
func (m *Emitter) callStatus() string {
	status, _ := endingOf(m.reason)
	if !m.ending || status == completed || m.item.call.args.Complete() {
		return completed
	}
	return incomplete
}

// closeArguments ends the arguments of the call.
func (m *Emitter) closeArguments() {
	it := &m.item
	words := it.call.words
	m.release()
	if m.context.Stream && words.event != "" {
		m.openPart(words.event+".done", "")
		m.member(words.text, it.text)
		m.shut()
	}
}

// release writes the held arguments. A function without arguments gets an empty object.
func (m *Emitter) release() {
	it := &m.item
	c := &it.call
	c.holds = false
	switch {
	case c.words == &searchWords:
		it.text = append(it.text[:0], toolcall.AppendArguments(nil, c.held, false)...)
	case c.words == &freeWords && c.held != nil:
		m.arguments(unwrap(c.held))
	case c.words == &functionWords && len(it.text) == 0 && m.native == nil:
		m.arguments(emptyObject)
	}
	c.held = nil
}

// appendCall appends the call with the arguments so far.
func (it *openItem) appendCall(dst []byte, status string) []byte {
	c := &it.call
	dst = append(append(dst, `{"id":"`...), it.id...)
	dst = append(dst, `","type":"`+c.words.kind+`","status":"`+status+`","`+c.words.text+`":`...)
	dst = it.appendArguments(dst)
	dst = append(append(dst, `,"call_id":"`...), c.id...)
	if c.words == &searchWords {
		return append(dst, `","execution":"client"}`...)
	}
	dst = append(append(dst, `","name":"`...), c.name...)
	if len(c.namespace) > 0 {
		dst = append(append(dst, `","namespace":"`...), c.namespace...)
	}
	return append(dst, `"}`...)
}

// appendArguments appends the arguments: an object for a search, otherwise a string.
func (it *openItem) appendArguments(dst []byte) []byte {
	if it.call.words == &searchWords {
		if len(it.text) == 0 {
			return append(dst, "{}"...)
		}
		return append(dst, it.text...)
	}
	dst = append(append(dst, '"'), it.text...)
	return append(dst, '"')
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
