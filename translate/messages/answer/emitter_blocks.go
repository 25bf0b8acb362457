package answer

import (
	"crypto/sha256"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
)

// text writes a fragment of text. Each part of a message has a block of its own.
func (m *Emitter) text(e *event.Event) {
	if m.open != textBlock || m.part != e.Part {
		m.close()
		m.out.openText()
		m.open, m.part = textBlock, e.Part
	}
	m.out.text(e.Text)
}

// between stands between the parts of reasoning in one block.
var between = []byte("\n\n")

// reasoning writes a fragment of reasoning.
func (m *Emitter) reasoning(e *event.Event) {
	if m.open == thinkingBlock && m.part != e.Part {
		m.think(between)
	}
	m.openThinking()
	m.part = e.Part
	m.think(e.Text)
}

func (m *Emitter) think(fragment []byte) {
	m.thought.Write(fragment)
	m.out.thinking(fragment)
}

func (m *Emitter) openThinking() {
	if m.open == thinkingBlock {
		return
	}
	m.close()
	m.out.openThinking()
	m.open, m.signed = thinkingBlock, false
	if m.thought == nil {
		m.thought = sha256.New()
	}
	m.thought.Reset()
}

// sign writes the signature of the thinking before it. Without any thinking
// before it the block has only the signature, which is legal.
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

// redacted writes a block of redacted thinking, which is never in parts.
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
