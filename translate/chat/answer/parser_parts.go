package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// mind is the state of the reasoning of a choice.
type mind struct {
	open bool // reasoning was sent since the last block ended
}

// piece contains the known members of a content part or a thinking block: raw strings,
// nil for absent members.
type piece struct {
	kind, text, refusal, data, signature []byte
	thinking                             []byte // a string, or an array of text parts
}

// The paths of the members of pieces.
const (
	inPart  = inMessage + "content[*]."
	inBlock = inMessage + "thinking_blocks[*]."
)

func readPiece(p *choices.Parser, path string, c *jsonscan.Cursor) (b piece) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "type":
			b.kind = c.Skip()
		case "text":
			b.text, _ = p.Said(c, path)
		case "refusal":
			b.refusal, _ = p.Said(c, path)
		case "data":
			b.data, _ = p.Said(c, path)
		case "signature":
			b.signature, _ = p.Said(c, path)
		case "thinking":
			b.thinking = c.Skip()
		default:
			p.DropMember(path, c)
		}
	}
	return b
}

// pieces calls each for every element of a raw array, whose members have that path.
func pieces(p *choices.Parser, path string, raw []byte, each func(*piece)) {
	c := jsonscan.New(raw)
	c.EnterArray()
	for c.Element() {
		if b := readPiece(p, path, &c); c.Err() == nil {
			each(&b)
		}
	}
	check(p, &c)
}

// tellReasoning sends the reasoning of a choice. If the same reasoning is there twice,
// signed blocks are preferred.
func (t *teller) tellReasoning(p *choices.Parser, d *delta, choice choices.Choice) {
	if d.thinking != nil {
		pieces(p, inBlock, d.thinking, func(b *piece) { t.tellBlock(p, b, choice) })
		return
	}
	if d.reasoning != nil {
		t.minds[choice.Index].open = true
		p.SendText(event.Event{Kind: event.Reasoning, Choice: choice.Index}, d.reasoning, d.reasoningAt)
	}
}

// tellBlock sends a thinking block. In a stream the finished block follows the
// reasoning that was streamed before, which is not told again; one without a
// signature is only a part of a block.
func (t *teller) tellBlock(p *choices.Parser, b *piece, choice choices.Choice) {
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
	m := &t.minds[choice.Index]
	if !(signed && m.open) {
		e.Kind = event.Reasoning
		tellThinking(p, e, b.thinking)
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

// tellThinking sends thinking that is a string or a list of texts.
func tellThinking(p *choices.Parser, event event.Event, raw []byte) {
	switch {
	case len(raw) == 0:
	case raw[0] == '"':
		p.SendText(event, raw, jsonscan.Slot{})
	case raw[0] == '[':
		pieces(p, inBlock, raw, func(b *piece) { p.SendText(event, b.text, jsonscan.Slot{}) })
	}
}

// tellParts sends content that is an array of parts: of one text each, of a
// refusal, or of reasoning.
func tellParts(p *choices.Parser, raw []byte, choice choices.Choice) {
	texts := 0
	pieces(p, inPart, raw, func(b *piece) {
		e := event.Event{Kind: event.Text, Choice: choice.Index}
		switch string(b.kind) {
		case `"thinking"`:
			e.Kind = event.Reasoning
			tellThinking(p, e, b.thinking)
		case `"refusal"`:
			p.Refused(choice.Index)
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
func dropPart(p *choices.Parser, b *piece) {
	if string(b.kind) != `"text"` {
		p.Drop(inMessage + "content[*]")
	}
}
