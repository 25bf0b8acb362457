package answer

import (
	"bytes"
	"encoding/base64"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// image writes an image as what the format's own tool returns.
func (m *Emitter) image(media *event.Media) {
	m.close(completed)
	m.items.begin(&imageShape)
	m.items.announce()
	it := &m.items.open
	it.content.json = jsonscan.AppendString(it.content.json, media.Data)
	it.tail = jsonscan.AppendString(append(it.tail, `,"output_format":`...), bytes.TrimPrefix(media.Type, []byte("image/")))
	m.close(completed)
}

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
	id := m.calls.Show(e.ID, m.IDs.NewToolID, toolcall.AsIs, m.Context.Input.Calls)
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
	if input := jsonscan.MemberOf(object, "input"); jsonscan.IsString(input) {
		return input
	}
	texts := 0
	for _, raw := range jsonscan.Members(object) {
		if jsonscan.IsString(raw) {
			texts++
			text = raw
		}
	}
	if texts != 1 {
		return nil
	}
	return text
}

// thought is what the open reasoning contains beside its summary.
type thought struct {
	text   []byte // escaped, to be sealed
	sealed []byte // the raw encrypted_content; nil for none
}

func (t *thought) size() int { return len(t.text) + len(t.sealed) }

// reasoning writes a fragment of reasoning into the summary, and keeps the fragment for
// the seal. Clients that did not ask for summaries get only the seal.
func (m *Emitter) reasoning(e *event.Event) {
	m.enter(&reasoningShape)
	if m.Context.Seals != nil {
		m.thought.text = jsonscan.AppendEscaped(m.thought.text, e.Text)
	}
	if m.Context.Reasoning.Hidden {
		return
	}
	m.items.announce()
	m.items.beginText(&summaryText, e.Part)
	m.items.fragment(e.Text)
}

// sign keeps the signature of the reasoning for the end of the item, if the client wants
// it: unchanged from a provider of this format, otherwise sealed together with the
// thinking that it signs.
func (m *Emitter) sign(e *event.Event) {
	m.enter(&reasoningShape)
	switch {
	case m.Context.Seals == nil:
		m.Drop("reasoning.signature")
	case e.Origin == translate.Responses: // encrypted_content follows the id and the lengths of the parts
		_, rest, _ := bytes.Cut(e.Text, []byte{'.'})
		_, encrypted, _ := bytes.Cut(rest, []byte{'.'})
		m.thought.sealed = jsonscan.AppendString(nil, encrypted)
	default:
		m.thought.sealed = m.seal(m.thought.block(e.Text))
	}
}

// Sign returns the event of encrypted reasoning of a provider, which states no id and no lengths.
func Sign(encrypted []byte) event.Event {
	return event.Event{Kind: event.Signature, Text: append([]byte(".."), encrypted...), Origin: translate.Responses}
}

// block returns the thinking block with a signature, nil for none.
func (t *thought) block(signature []byte) []byte {
	block := append(append([]byte(`{"type":"thinking","thinking":"`), t.text...), '"')
	if signature != nil {
		block = jsonscan.AppendString(append(block, `,"signature":`...), signature)
	}
	return append(block, '}')
}

// seal returns the raw encrypted_content with a sealed thinking block. The block is encoded
// in base64, which no client escapes or alters.
func (m *Emitter) seal(block []byte) []byte {
	payload := base64.RawURLEncoding.AppendEncode(nil, block)
	return jsonscan.AppendString(nil, m.Context.Seals.Append(nil, seal.Block, payload))
}

// redacted writes reasoning that only its provider can read.
func (m *Emitter) redacted(data []byte) {
	if m.Context.Seals == nil {
		m.Drop("reasoning")
		return
	}
	m.close(completed)
	m.enter(&reasoningShape)
	block := jsonscan.AppendString([]byte(`{"type":"redacted_thinking","data":`), data)
	m.thought.sealed = m.seal(append(block, '}'))
	m.close(completed)
}

// endReasoning adds the seal to the open item, which is announced if it has only a seal.
func (m *Emitter) endReasoning() {
	t := &m.thought
	if t.sealed == nil && len(t.text) > 0 {
		t.sealed = m.seal(t.block(nil))
	}
	sealed := []byte("null")
	if t.sealed != nil {
		sealed = t.sealed
		m.items.announce()
	}
	m.items.open.tail = append(append(m.items.open.tail, `,"encrypted_content":`...), sealed...)
	t.text, t.sealed = t.text[:0], nil
}
