package messages

import "crypto/sha256"

// waiting reports whether what comes must queue behind an open tool call.
func (m *Emitter) waiting() bool { return m.open == toolUseBlock || len(m.queue) > 0 }

// text writes a fragment of text. Some servers put line ends between tool
// calls; text of nothing but space would be refused when it is sent back.
func (m *Emitter) text(fragment []byte) {
	if !m.waiting() {
		m.writeText(fragment)
		return
	}
	if s := m.lastSegment(textBlock); s != nil {
		s.data = append(s.data, fragment...)
		m.hold(len(fragment))
	} else if !blank(fragment) {
		m.push(segment{kind: textBlock, data: append([]byte(nil), fragment...)})
	}
	m.advance()
}

func (m *Emitter) writeText(fragment []byte) {
	if m.open != textBlock {
		m.close()
		m.out.openText()
		m.open = textBlock
	}
	m.out.text(fragment)
}

// reasoning writes a fragment of reasoning.
func (m *Emitter) reasoning(fragment []byte) {
	if !m.waiting() {
		m.writeReasoning(fragment)
		return
	}
	if s := m.lastSegment(thinkingBlock); s != nil {
		s.data = append(s.data, fragment...)
		m.hold(len(fragment))
	} else {
		m.push(segment{kind: thinkingBlock, data: append([]byte(nil), fragment...)})
	}
	m.advance()
}

func (m *Emitter) writeReasoning(fragment []byte) {
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
	if !m.waiting() {
		m.writeSignature(signature)
		return
	}
	s := m.lastSegment(thinkingBlock)
	if s == nil {
		m.push(segment{kind: thinkingBlock})
		s = &m.queue[len(m.queue)-1]
	}
	s.signature = append(s.signature[:0], signature...)
	m.hold(len(signature))
	m.advance()
}

func (m *Emitter) writeSignature(signature []byte) {
	m.openThinking()
	m.out.signature(signature)
	m.signed = true
}

// redacted writes a block of redacted thinking, which is never in parts.
func (m *Emitter) redacted(data []byte) {
	if m.waiting() {
		m.push(segment{kind: redactedThinkingBlock, data: append([]byte(nil), data...)})
		m.advance()
		return
	}
	m.close()
	m.out.redacted(data)
}

// endBlock ends the block of that kind which is the last one.
func (m *Emitter) endBlock(kind blockKind) {
	switch {
	case m.waiting():
		if s := m.lastSegment(kind); s != nil {
			s.ended = true
		}
	case m.open == kind:
		m.close()
	}
}

// blank reports whether a text is nothing but space.
func blank(text []byte) bool {
	for _, b := range text {
		if b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return false
		}
	}
	return true
}
