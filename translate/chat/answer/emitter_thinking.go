package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

var errThinking = errors.New("reasoning that is too long to be signed")

// blockSeparator separates the reasoning of two blocks.
var blockSeparator = []byte("\n")

// thinking is the reasoning of a choice by blocks: a block is written whole with its
// signature.
type thinking struct {
	open   []byte // the text of the open block, escaped
	part   int    // of the last reasoning
	closed bool   // the next reasoning begins a new block
	blocks []byte // of a JSON answer, each with a comma before it
}

// end ends the open block.
func (t *thinking) end() { t.closed, t.open = true, t.open[:0] }

// reasoning writes a fragment of reasoning.
func (m *Emitter) reasoning(c *choice, e *event.Event) {
	t := &c.thinking
	switch {
	case !c.reasoning.has:
	case t.closed:
		m.fragment(e.Choice, &c.reasoning, blockSeparator)
	case t.part != e.Part:
		m.think(c, e.Choice, openai.Separator)
	}
	t.closed, t.part = false, e.Part
	m.think(c, e.Choice, e.Text)
}

// think writes reasoning of the open block.
func (m *Emitter) think(c *choice, choice int, fragment []byte) {
	if len(c.thinking.open)+len(fragment) > maxThinking {
		m.Fail(errThinking)
		return
	}
	c.thinking.open = jsonscan.AppendEscaped(c.thinking.open, fragment)
	m.fragment(choice, &c.reasoning, fragment)
}

// signature writes the whole signed block, which the client sends back.
func (m *Emitter) signature(c *choice, e *event.Event) {
	signature, ok := event.ClientSignature(m.Context, e)
	if !ok {
		m.Drop("reasoning.encrypted_content")
		return
	}
	block := append([]byte(`{"type":"thinking","thinking":"`), c.thinking.open...)
	m.block(c, e.Choice, append(block, `","signature":`...), signature)
	c.thinking.end()
}

// block writes a thinking block, whose last member is a text.
func (m *Emitter) block(c *choice, choice int, block, text []byte) {
	block = append(jsonscan.AppendString(block, text), '}')
	if !m.Context.Stream {
		c.thinking.blocks = append(append(c.thinking.blocks, ','), block...)
		return
	}
	m.open(choice)
	m.Written = append(append(append(m.Written, `"thinking_blocks":[`...), block...), ']')
	m.close("")
}
