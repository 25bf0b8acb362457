package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

var errThought = errors.New("reasoning that is too long to be signed")

// apart separates the reasoning of two blocks.
var apart = []byte("\n")

// reasoning writes a fragment of reasoning. Its block is kept, since a signature is
// written together with the whole block.
func (m *Emitter) reasoning(c *saying, e *event.Event) {
	switch {
	case !c.thoughtful:
	case c.apart:
		m.fragment(e.Choice, reasoningMember, &c.reasoning, apart)
	case c.part != e.Part:
		m.think(c, e.Choice, choices.Between)
	}
	c.apart, c.thoughtful, c.part = false, true, e.Part
	m.think(c, e.Choice, e.Text)
}

// think writes reasoning of the block at hand.
func (m *Emitter) think(c *saying, choice int, fragment []byte) {
	if len(c.thought)+len(fragment) > maxThought {
		m.Fail(errThought)
		return
	}
	c.thought = jsonscan.AppendEscaped(c.thought, fragment)
	m.fragment(choice, reasoningMember, &c.reasoning, fragment)
}

const reasoningMember = `"reasoning_content":"`

// endThought ends the block of reasoning at hand.
func (c *saying) endThought() { c.apart, c.thought = true, c.thought[:0] }

// signature writes the whole signed block, which the client sends back.
func (m *Emitter) signature(c *saying, e *event.Event) {
	signature, ok := event.ClientSignature(m.Context, e)
	if !ok {
		m.Drop("reasoning.encrypted_content")
		return
	}
	m.openBlock(c, e.Choice, `{"type":"thinking","thinking":"`)
	block := m.block(c)
	*block = append(*block, c.thought...)
	*block = append(*block, `","signature":`...)
	*block = jsonscan.AppendString(*block, signature)
	m.closeBlock(c)
	c.endThought()
}

// redacted writes a block of redacted thinking.
func (m *Emitter) redacted(c *saying, e *event.Event) {
	m.openBlock(c, e.Choice, `{"type":"redacted_thinking","data":`)
	block := m.block(c)
	*block = jsonscan.AppendString(*block, e.Text)
	m.closeBlock(c)
}

// block returns the buffer that thinking blocks are written to.
func (m *Emitter) block(c *saying) *[]byte {
	if m.Context.Stream {
		return &m.Out
	}
	return &c.blocks
}

func (m *Emitter) openBlock(c *saying, choice int, first string) {
	if m.Context.Stream {
		m.open(choice)
		m.Out = append(m.Out, `"thinking_blocks":[`...)
	} else {
		c.blocks = append(c.blocks, ',')
	}
	block := m.block(c)
	*block = append(*block, first...)
}

func (m *Emitter) closeBlock(c *saying) {
	if !m.Context.Stream {
		c.blocks = append(c.blocks, '}')
		return
	}
	m.Out = append(m.Out, "}]"...)
	m.close("")
}
