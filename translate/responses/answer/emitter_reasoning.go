package answer

import (
	"bytes"
	"encoding/base64"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// reasoning writes a fragment of reasoning into the summary, and keeps the fragment for
// the seal. Clients that did not ask for summaries get only the seal.
func (m *Emitter) reasoning(e *event.Event) {
	m.openReasoning()
	it := &m.item
	if m.context.Seals != nil {
		it.thought = jsonscan.AppendEscaped(it.thought, e.Text)
	}
	if m.context.HideReasoning {
		return
	}
	m.announceReasoning()
	if it.open && it.part != e.Part {
		m.closeSummary()
	}
	if !it.open {
		m.openSummary(e.Part)
	}
	it.text = jsonscan.AppendEscaped(it.text, e.Text)
	if it.delta != nil {
		m.out = m.appendDelta(m.out, e.Text)
	}
}

// openReasoning opens an item of reasoning. Its start is written only when the item has
// content.
func (m *Emitter) openReasoning() {
	if m.item.kind != reasoningItem {
		m.close(completed)
		m.item.reset(reasoningItem, nil)
	}
}

// announceReasoning writes the start of the open item, once.
func (m *Emitter) announceReasoning() {
	if it := &m.item; it.id == nil {
		it.id = m.itemID("rs_")
		m.begin()
	}
}

// openSummary begins a part of the summary.
func (m *Emitter) openSummary(part int) {
	it := &m.item
	it.open, it.part = true, part
	if !m.context.Stream {
		return
	}
	m.openPart("response.reasoning_summary_part.added", "summary_index")
	m.out = append(m.out, `,"part":{"type":"summary_text","text":""}`...)
	m.shut()
	m.beginDeltas("response.reasoning_summary_text.delta", "summary_index", `"}`+"\n\n")
}

// closeSummary ends the open part of the summary.
func (m *Emitter) closeSummary() {
	it := &m.item
	if !it.open {
		return
	}
	before := it.nextPart()
	parts := append(append(before, `{"type":"summary_text","text":"`...), it.text...)
	parts = append(parts, `"}`...)
	if m.context.Stream {
		m.openPart("response.reasoning_summary_text.done", "summary_index")
		m.member("text", it.text)
		m.shut()
		m.openPart("response.reasoning_summary_part.done", "summary_index")
		m.out = append(append(m.out, `,"part":`...), parts[len(before):]...)
		m.shut()
	}
	it.addPart(parts)
}

// sign keeps the signature of the reasoning for the end of the item, if the client wants
// it: unchanged from a provider of this format, otherwise sealed together with the
// thinking that it signs.
func (m *Emitter) sign(e *event.Event) {
	m.openReasoning()
	switch {
	case m.context.Seals == nil:
		m.Drop("reasoning.signature")
	case e.Origin == translate.Responses:
		m.item.sealed = jsonscan.AppendString(nil, encryptedIn(e.Text))
	default:
		m.seal(e.Text)
	}
}

// encryptedIn returns the provider's encrypted_content from a signature that a parser of
// this format made: it follows the id and the lengths of the parts.
func encryptedIn(signature []byte) []byte {
	_, rest, _ := bytes.Cut(signature, []byte{'.'})
	_, encrypted, _ := bytes.Cut(rest, []byte{'.'})
	return encrypted
}

// seal seals the open thinking block; signature is nil for none.
func (m *Emitter) seal(signature []byte) {
	it := &m.item
	block := append(append([]byte(`{"type":"thinking","thinking":"`), it.thought...), '"')
	if signature != nil {
		block = append(block, `,"signature":`...)
		block = jsonscan.AppendString(block, signature)
	}
	m.sealBlock(append(block, '}'))
}

// sealBlock seals a thinking block. It is encoded in base64, which no client escapes or
// alters.
func (m *Emitter) sealBlock(block []byte) {
	payload := base64.RawURLEncoding.AppendEncode(nil, block)
	m.item.sealed = jsonscan.AppendString(nil, m.context.Seals.Append(nil, seal.Block, payload))
}

// redacted writes reasoning that only its provider can read.
func (m *Emitter) redacted(data []byte) {
	if m.context.Seals == nil {
		m.Drop("reasoning")
		return
	}
	m.close(completed)
	m.openReasoning()
	block := jsonscan.AppendString([]byte(`{"type":"redacted_thinking","data":`), data)
	m.sealBlock(append(block, '}'))
	m.close(completed)
}

// closeReasoning ends the summary, and announces an item that has only a seal.
func (m *Emitter) closeReasoning() {
	it := &m.item
	m.closeSummary()
	if it.sealed == nil && len(it.thought) > 0 {
		m.seal(nil)
	}
	if it.sealed != nil {
		m.announceReasoning()
	}
}

// appendReasoning appends the item. Only an item that has ended contains the seal.
func (it *openItem) appendReasoning(dst []byte, status string) []byte {
	dst = append(append(dst, `{"id":"`...), it.id...)
	dst = append(append(dst, `","type":"reasoning","summary":[`...), it.parts...)
	switch {
	case status == inProgress:
		return append(dst, "]}"...)
	case it.sealed == nil:
		return append(dst, `],"encrypted_content":null}`...)
	}
	dst = append(append(dst, `],"encrypted_content":`...), it.sealed...)
	return append(dst, '}')
}
