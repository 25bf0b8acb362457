package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
)

// thinkingState is the state of the reasoning of a choice.
type thinkingState struct {
	open bool // reasoning was sent since the last block ended
}

// part contains the known members of a content part or a thinking block: raw strings,
// nil for absent members.
type part struct {
	kind, text, refusal, data, signature []byte
	thinking                             []byte // a string, or an array of text parts
}

// The paths of the members of content parts and thinking blocks.
const (
	inPart  = inMessage + "content[*]."
	inBlock = inMessage + "thinking_blocks[*]."
)

func readPart(p *openai.Parser, path string, c *jsonscan.Cursor) (b part) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "type":
			b.kind = c.Skip()
		case "text":
			b.text, _ = p.StringOrDrop(c, path)
		case "refusal":
			b.refusal, _ = p.StringOrDrop(c, path)
		case "data":
			b.data, _ = p.StringOrDrop(c, path)
		case "signature":
			b.signature, _ = p.StringOrDrop(c, path)
		case "thinking":
			b.thinking = c.Skip()
		default:
			p.DropMember(path, c)
		}
	}
	return b
}

// eachPart calls each for every element of a raw array. path is the path of the members
// of its elements.
func eachPart(p *openai.Parser, path string, raw []byte, each func(*part)) {
	c := jsonscan.New(raw)
	c.EnterArray()
	for c.Element() {
		if b := readPart(p, path, &c); c.Err() == nil {
			each(&b)
		}
	}
	check(p, &c)
}

// sendReasoning sends the reasoning of a choice: the signed blocks if there are any, and
// otherwise the text.
func (t *choiceParser) sendReasoning(p *openai.Parser, d *delta, choice openai.Choice) {
	if d.thinking != nil {
		eachPart(p, inBlock, d.thinking, func(b *part) { t.sendBlock(p, b, choice) })
		return
	}
	if d.reasoning != nil {
		t.thinking[choice.Index].open = true
		p.SendText(event.Event{Kind: event.Reasoning, Choice: choice.Index}, d.reasoning, d.reasoningAt)
	}
}

// sendBlock sends a thinking block. In a stream, a signed block repeats the reasoning
// that was sent before, so only its signature is sent; a block without a signature is a
// fragment.
func (t *choiceParser) sendBlock(p *openai.Parser, b *part, choice openai.Choice) {
	e := event.Event{Choice: choice.Index}
	if string(b.kind) == `"redacted_thinking"` {
		e.Kind = event.Redacted
		p.SendText(e, b.data, jsonscan.Slot{})
		return
	}
	signed := len(b.signature) > len(`""`)
	if b.thinking == nil && !signed && string(b.kind) != `"thinking"` {
		p.Drop(inMessage + "thinking_blocks[*]")
		return
	}
	m := &t.thinking[choice.Index]
	if !(signed && m.open) {
		e.Kind = event.Reasoning
		sendThinking(p, e, b.thinking)
		m.open = true
	}
	if signed {
		e.Kind = event.Signature
		p.SendText(e, b.signature, jsonscan.Slot{})
	}
	if signed || choice.Whole {
		p.SendEvent(event.Event{Kind: event.ReasoningEnd, Choice: choice.Index})
		m.open = false
	}
}

// sendThinking sends thinking that is a string or a list of texts.
func sendThinking(p *openai.Parser, event event.Event, raw []byte) {
	switch {
	case len(raw) == 0:
	case raw[0] == '"':
		p.SendText(event, raw, jsonscan.Slot{})
	case raw[0] == '[':
		eachPart(p, inBlock, raw, func(b *part) { p.SendText(event, b.text, jsonscan.Slot{}) })
	}
}

// sendParts sends content that is an array of parts: texts, refusals and reasoning.
func sendParts(p *openai.Parser, raw []byte, choice openai.Choice) {
	texts := 0
	eachPart(p, inPart, raw, func(b *part) {
		e := event.Event{Kind: event.Text, Choice: choice.Index}
		switch string(b.kind) {
		case `"thinking"`:
			e.Kind = event.Reasoning
			sendThinking(p, e, b.thinking)
		case `"refusal"`:
			p.MarkRefused(choice.Index)
			e.Refusal = true
			p.SendText(e, b.refusal, jsonscan.Slot{})
		default:
			if len(b.text) <= len(`""`) {
				dropPart(p, b)
				return
			}
			if texts++; texts > 1 {
				p.SendEvent(event.Event{Kind: event.TextEnd, Choice: choice.Index})
			}
			p.SendText(e, b.text, jsonscan.Slot{})
		}
	})
}

// dropPart reports a part without a text as dropped.
func dropPart(p *openai.Parser, b *part) {
	if string(b.kind) != `"text"` {
		p.Drop(inMessage + "content[*]")
	}
}
