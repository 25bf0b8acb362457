package answer

import (
	"crypto/sha256"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
)

// text writes a fragment of text. Every part of a message becomes a block of its own.
func (m *Emitter) text(e *event.Event) {
	if m.open != textBlock || m.part != e.Part {
		m.close()
		m.out.openText()
		m.open, m.part = textBlock, e.Part
	}
	m.out.text(e.Text)
}

// separator separates the parts of reasoning in one block.
var separator = []byte("\n\n")

// reasoning writes a fragment of reasoning.
func (m *Emitter) reasoning(e *event.Event) {
	if m.open == thinkingBlock && m.part != e.Part {
		m.think(separator)
	}
	m.openThinking()
	m.part = e.Part
	m.think(e.Text)
}

func (m *Emitter) think(fragment []byte) {
	m.digest.Write(fragment)
	m.out.thinking(fragment)
}

func (m *Emitter) openThinking() {
	if m.open == thinkingBlock {
		return
	}
	m.close()
	m.out.openThinking()
	m.open, m.signed = thinkingBlock, false
	if m.digest == nil {
		m.digest = sha256.New()
	}
	m.digest.Reset()
}

// sign writes the signature of the preceding thinking. Without any thinking, the block
// contains only the signature, which the format allows.
func (m *Emitter) sign(e *event.Event) {
	signature, ok := event.ClientSignature(m.context, e)
	if !ok {
		m.Drop("reasoning.encrypted_content")
		return
	}
	m.openThinking()
	m.out.signature(signature)
	m.signed = true
}

// redacted writes a block of redacted thinking, which has no deltas.
func (m *Emitter) redacted(data []byte) {
	m.close()
	m.out.redacted(data)
}

// endBlock ends the open block if it is of that kind.
func (m *Emitter) endBlock(kind blockKind) {
	if m.open == kind {
		m.close()
	}
}
