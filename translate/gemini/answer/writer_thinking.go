package answer

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// thinking is the reasoning in front of the next call. Some clients return no thoughts, but all
// of them return the signature of a call, so that it seals the reasoning that led to the call.
type thinking struct {
	text   []byte // of the open block, escaped
	part   int    // of the text
	blocks []byte // that have ended, each with a comma before it
	kind   string // of their seal
	signed bool   // a provider has signed one of them
	own    []byte // the signature of the next call by a provider of this format
}

// think writes a fragment of reasoning, if the client asked for it, and keeps the fragment for
// the seal.
func (m *writer) think(e *event.Event) {
	if t := &m.thinking; m.Context.Seals != nil {
		if len(t.text) > 0 && t.part != e.Part {
			t.text = jsonscan.AppendEscaped(t.text, separator)
		}
		t.part = e.Part
		t.text = jsonscan.AppendEscaped(t.text, e.Text)
		m.bound()
	}
	if !m.Context.Reasoning.Hidden {
		m.text(thinkPart, e)
	}
}

// bound bounds the reasoning that is kept.
func (m *writer) bound() {
	if t := &m.thinking; len(t.text)+len(t.blocks) > m.Context.Room() {
		m.Fail(fmt.Errorf("more than %d bytes of reasoning", m.Context.Room()))
	}
}

// endThought ends a block of reasoning.
func (m *writer) endThought() {
	m.thinking.end(nil)
	if m.last.kind == thinkPart {
		m.last.part = closedPart
	}
}

// end ends the open block, with its signature or nil.
func (t *thinking) end(signature []byte) {
	if len(t.text) == 0 && signature == nil {
		return
	}
	t.blocks = append(append(append(t.blocks, `,{"type":"thinking","thinking":"`...), t.text...), '"')
	if signature != nil {
		t.blocks = jsonscan.AppendString(append(t.blocks, `,"signature":`...), signature)
		t.signed = true
	}
	t.blocks, t.text = append(t.blocks, '}'), t.text[:0]
}

// sign keeps a signature for the next call. One by a provider of this format stays unchanged,
// and is written at once if it signs no call.
func (m *writer) sign(e *event.Event) {
	t := &m.thinking
	switch own, ofCall := bytes.CutPrefix(e.Text, []byte(OfCall)); {
	case e.Origin == translate.Gemini && ofCall:
		t.own = append(t.own[:0], own...)
	case e.Origin == translate.Gemini:
		m.other(append(appendSignature([]byte(emptyText), bytes.TrimPrefix(own, []byte(OfText))), '}'))
	case m.Context.Seals == nil:
		m.Drop("reasoning.signature")
	default:
		t.kind = seal.Block
		if e.Origin != "" { // no signature of thinking
			t.kind = seal.Item
		}
		t.end(e.Text)
		m.bound()
	}
}

// Sign returns the event by which a provider signs the call that follows.
func Sign(signature []byte) event.Event {
	return event.Event{Kind: event.Signature, Text: append([]byte(OfCall), signature...), Origin: translate.Gemini}
}

// redacted keeps reasoning that only its provider can read.
func (m *writer) redacted(data []byte) {
	if m.Context.Seals == nil {
		m.Drop("reasoning")
		return
	}
	t := &m.thinking
	t.end(nil)
	t.blocks = append(jsonscan.AppendString(append(t.blocks, `,{"type":"redacted_thinking","data":`...), data), '}')
	t.kind, t.signed = seal.Block, true
	m.bound()
}

// emptyPart is a part without content, and emptyText its beginning.
const (
	emptyText = `{"text":""`
	emptyPart = emptyText + "}"
)

// appendSeal appends the signature of a call, as a member with a comma before it, unless no
// reasoning led to the call.
func (t *thinking) appendSeal(dst []byte, m *translate.AnswerContext) []byte {
	t.end(nil)
	switch {
	case len(t.own) > 0:
		dst = appendSignature(dst, t.own)
	case len(t.blocks) > 0:
		if t.kind == "" {
			t.kind = seal.Block
		}
		t.blocks[0] = '['
		sealed := m.Seals.Append(nil, t.kind, append(t.blocks, ']'))
		dst = appendSignature(dst, base64.StdEncoding.AppendEncode(nil, sealed))
	}
	t.own, t.blocks, t.signed = t.own[:0], t.blocks[:0], false
	return dst
}

// lastSeal returns an empty part with the reasoning behind the last call, if it is signed:
// without a signature, its text needs no seal.
func (t *thinking) lastSeal(m *translate.AnswerContext) []byte {
	last := []byte(emptyText)
	if t.signed || len(t.own) > 0 {
		last = t.appendSeal(last, m)
	}
	return append(last, '}')
}

func appendSignature(dst, signature []byte) []byte {
	return jsonscan.AppendString(append(dst, `,"thoughtSignature":`...), signature)
}
