package messages

import "crypto/sha256"

// text writes a fragment of text.
func (m *Emitter) text(fragment []byte) {
	if m.open != textBlock {
		m.close()
		m.out.openText()
		m.open = textBlock
	}
	m.out.text(fragment)
}

// reasoning writes a fragment of reasoning.
func (m *Emitter) reasoning(fragment []byte) {
	m.openThinking()
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
func (m *Emitter) sign(signature []byte) {
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
