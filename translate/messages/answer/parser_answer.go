package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// wholeAnswer contains the raw members of a JSON answer.
type wholeAnswer struct {
	reading
	content []byte // the array
	stops   change
}

// Answer reads a whole JSON answer.
func (p *Parser) Answer(body []byte) {
	if p.over {
		return
	}
	var a wholeAnswer
	switch err := p.readAnswer(&a, body); {
	case err != nil:
		p.fail(fault.Unusable(err))
	case a.isError || string(a.kind) == `"error"`:
		p.Dropped = translate.Dropped{} // the members around an error are not part of an answer
		p.fail(fault.ReadAnswer(body))
	case a.content == nil:
		p.fail(fault.Unusable(errNoContent))
	default:
		p.sendAnswer(&a, body)
	}
}

func (p *Parser) readAnswer(a *wholeAnswer, body []byte) error {
	c := &p.cursor
	*c = jsonscan.New(body)
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoContent, c.Finish())
	}
	for c.Member() {
		switch string(c.Name()) {
		case "content":
			a.content = c.ArrayOrSkip()
		case "model":
			a.model = c.StringOrSkip()
		case "stop_reason":
			a.stops.reason = c.StringOrSkip()
		case "stop_sequence":
			a.stops.stop = c.StringOrSkip()
		case "stop_details":
			a.stops.explanation = p.readStops(c)
		case "id", "role":
			c.Skip()
		default:
			p.readMember(&a.reading, c)
		}
	}
	return c.Finish()
}

// sendAnswer sends the events of the answer, in the order of a stream.
func (p *Parser) sendAnswer(a *wholeAnswer, body []byte) {
	p.read = a.reading
	p.send(event.Event{Kind: event.Native, Text: body})
	p.messageStart()
	p.cursor = jsonscan.New(a.content)
	c := &p.cursor
	c.EnterArray()
	for c.Element() {
		var b content
		start := c.Offset()
		if p.readBlock(&b, c); c.Err() == nil {
			p.send(event.Event{Kind: event.Native, Text: a.content[start:c.Offset()]})
			p.block(&b)
		}
	}
	if err := c.Finish(); err != nil {
		p.fail(fault.Unusable(err))
		return
	}
	p.finish(a.stops.reason, a.stops.stop, a.stops.explanation)
	p.end()
}

// block sends a whole block.
func (p *Parser) block(b *content) {
	state := p.begin(b)
	switch state.kind {
	case textBlock:
		p.sendText(event.Event{Kind: event.Text, Part: state.part}, b.text)
	case thinkingBlock:
		p.sendText(event.Event{Kind: event.Reasoning}, b.thinking)
		p.sendText(event.Event{Kind: event.Signature}, b.signature)
		p.send(event.Event{Kind: event.ReasoningEnd})
	case redactedThinkingBlock:
		p.sendText(event.Event{Kind: event.Redacted}, b.data)
	case toolUseBlock:
		tool := p.startTool(b)
		p.endTool(tool, p.sendInput(tool, b.input))
	default:
		p.Drop(lostBlock)
	}
	p.citeAll(&state, b.citations)
	p.sendSources(&state)
}
