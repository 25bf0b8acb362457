package answer

import (
	"bytes"
	"encoding/base64"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

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
	if m.Context.HideReasoning {
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
