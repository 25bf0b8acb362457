package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
)

// eachPart calls each for every element of an array in v, which is an object of the table.
func eachPart(p *openai.Parser, table *members.Table, v *members.Values, array members.Member, each func(part *members.Values)) {
	c := v.Cursor(array)
	var part members.Values
	for c.EnterArray(); c.Element(); {
		if part.Read(&c, table, &p.Dropped); c.Err() == nil {
			each(&part)
		}
	}
	p.Refuse(c.Finish())
}

// sendBlock sends a thinking block. In a stream, a signed block repeats the reasoning
// that was sent before, so only its signature is sent; a block without a signature is a
// fragment.
func (c *parsed) sendBlock(p *openai.Parser, b *members.Values, choice openai.Choice) {
	e := event.Event{Choice: choice.Index}
	kind, signature := string(b.Raw(partType)), b.Filled(partSignature)
	switch {
	case kind == `"redacted_thinking"`:
		e.Kind = event.Redacted
		p.SendText(e, b.Raw(partData), jsonscan.Slot{})
		return
	case b.Raw(partThinking) == nil && signature == nil && kind != `"thinking"`:
		p.Drop(inMessage + "thinking_blocks[*]")
		return
	}
	if signature == nil || !c.open {
		sendThinking(p, b, choice.Index)
		c.open = true
	}
	if signature != nil {
		e.Kind = event.Signature
		p.SendText(e, signature, jsonscan.Slot{})
	}
	if signature != nil || choice.Whole {
		p.Send(event.Event{Kind: event.ReasoningEnd, Choice: choice.Index})
		c.open = false
	}
}

// sendThinking sends the thinking of a part or a block: a string, or a list of texts.
func sendThinking(p *openai.Parser, b *members.Values, choice int) {
	e := event.Event{Kind: event.Reasoning, Choice: choice}
	switch raw := b.Filled(partThinking); {
	case jsonscan.IsString(raw):
		p.SendText(e, raw, jsonscan.Slot{})
	case raw != nil && raw[0] == '[':
		eachPart(p, blocks, b, partThinking, func(text *members.Values) { p.SendText(e, text.Raw(partText), jsonscan.Slot{}) })
	}
}

// sendParts sends content that is an array of parts: texts, refusals and reasoning.
func sendParts(p *openai.Parser, v *members.Values, choice int) {
	texts := 0
	eachPart(p, parts, v, messageContent, func(b *members.Values) {
		e := event.Event{Kind: event.Text, Choice: choice}
		kind, text := string(b.Raw(partType)), b.Filled(partText)
		switch {
		case kind == `"thinking"`:
			sendThinking(p, b, choice)
		case kind == `"refusal"`:
			p.MarkRefused(choice)
			e.Refusal = true
			p.SendText(e, b.Raw(partRefusal), jsonscan.Slot{})
		case text != nil:
			if texts++; texts > 1 {
				p.Send(event.Event{Kind: event.TextEnd, Choice: choice})
			}
			p.SendText(e, text, jsonscan.Slot{})
		case kind != `"text"`:
			p.Drop(inMessage + "content[*]")
		}
	})
}
