package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
)

var errThinking = errors.New("reasoning that is too long to be signed")

// blockSeparator separates the reasoning of two blocks.
var blockSeparator = []byte("\n")

// reasoning writes a fragment of reasoning. Its block is kept, since a signature is
// written together with the whole block.
func (m *Emitter) reasoning(c *choice, e *event.Event) {
	switch {
	case !c.hasReasoning:
	case c.newBlock:
		m.fragment(e.Choice, reasoningMember, &c.reasoning, blockSeparator)
	case c.part != e.Part:
		m.think(c, e.Choice, openai.Separator)
	}
	c.newBlock, c.hasReasoning, c.part = false, true, e.Part
	m.think(c, e.Choice, e.Text)
}

// think writes reasoning of the open block.
func (m *Emitter) think(c *choice, choice int, fragment []byte) {
	if len(c.thinking)+len(fragment) > maxThinking {
		m.Fail(errThinking)
		return
	}
	c.thinking = jsonscan.AppendEscaped(c.thinking, fragment)
	m.fragment(choice, reasoningMember, &c.reasoning, fragment)
}

const reasoningMember = `"reasoning_content":"`

// endThinking ends the open block of reasoning.
func (c *choice) endThinking() { c.newBlock, c.thinking = true, c.thinking[:0] }

// signature writes the whole signed block, which the client sends back.
func (m *Emitter) signature(c *choice, e *event.Event) {
	signature, ok := event.ClientSignature(m.Context, e)
	if !ok {
		m.Drop("reasoning.encrypted_content")
		return
	}
	m.openBlock(c, e.Choice, `{"type":"thinking","thinking":"`)
	block := m.block(c)
	*block = append(*block, c.thinking...)
	*block = append(*block, `","signature":`...)
	*block = jsonscan.AppendString(*block, signature)
	m.closeBlock(c)
	c.endThinking()
}

// redacted writes a block of redacted thinking.
func (m *Emitter) redacted(c *choice, e *event.Event) {
	m.openBlock(c, e.Choice, `{"type":"redacted_thinking","data":`)
	block := m.block(c)
	*block = jsonscan.AppendString(*block, e.Text)
	m.closeBlock(c)
}

// block returns the buffer that thinking blocks are written to.
func (m *Emitter) block(c *choice) *[]byte {
	if m.Context.Stream {
		return &m.Out
	}
	return &c.thinkingBlocks
}

func (m *Emitter) openBlock(c *choice, choice int, first string) {
	if m.Context.Stream {
		m.open(choice)
		m.Out = append(m.Out, `"thinking_blocks":[`...)
	} else {
		c.thinkingBlocks = append(c.thinkingBlocks, ',')
	}
	block := m.block(c)
	*block = append(*block, first...)
}

func (m *Emitter) closeBlock(c *choice) {
	if !m.Context.Stream {
		c.thinkingBlocks = append(c.thinkingBlocks, '}')
		return
	}
	m.Out = append(m.Out, "}]"...)
	m.close("")
}
