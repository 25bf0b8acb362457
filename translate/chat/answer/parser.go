package answer

import (
	"cmp"
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
)

var errKind = errors.New("a message, its content or its calls are of a kind of JSON that the format does not have")

// NewParser returns a parser of one answer, a stream or a JSON body.
func NewParser(h event.Handler) *openai.Parser {
	return openai.NewParser(choices, &choiceParser{}, h)
}

// choiceParser sends the events of the choices of chat answers.
type choiceParser struct {
	choices []parsed
	held    int // bytes of calls that wait for the end of their names
}

// parsed is the state of a choice.
type parsed struct {
	calls   calls
	open    bool // reasoning was sent since the last block of it ended
	details details
}

// SendChoice sends the events of a choice: reasoning, text, refusal, calls.
func (t *choiceParser) SendChoice(p *openai.Parser, v *members.Values, choice openai.Choice) {
	for len(t.choices) <= choice.Index {
		t.choices = append(t.choices, parsed{calls: calls{choice: len(t.choices), held: &t.held}})
	}
	c := &t.choices[choice.Index]
	if v.Unreadable() {
		p.Events.Refuse(errKind)
		return
	}
	reasoning := messageReasoning
	if v.Filled(reasoning) == nil {
		reasoning = messageReasoningToo
	}
	hasText := v.Filled(messageContent) != nil || v.Filled(messageRefusal) != nil
	hasCalls := v.Filled(messageCalls) != nil
	if hasText || v.Filled(messageThinking) != nil || v.Filled(reasoning) != nil {
		c.calls.flushLast(p)
	}
	if v.Filled(messageThinking) != nil {
		eachPart(p, blocks, v, messageThinking, func(b *members.Values) { c.sendBlock(p, b, choice) })
	} else if v.Filled(reasoning) != nil {
		c.open = true
		p.Events.SendText(event.Event{Kind: event.Reasoning, Choice: choice.Index}, v.Raw(reasoning), v.At(reasoning))
	}
	sendContent(p, v, choice.Index)
	if list := v.Filled(messageDetails); list != nil {
		c.details.add(list)
	}
	if v.Filled(messageAudio) != nil {
		p.DropContent(inMessage + "audio")
	}
	sendImages(p, v, choice.Index)
	switch {
	case hasCalls:
		c.calls.sendEntries(p, v, choice.Whole)
	case v.Filled(messageCall) != nil:
		c.calls.sendOnly(p, v)
	}
	if choice.Ends {
		c.calls.flushLast(p)
		c.endDetails(p)
	}
}

// endDetails sends the reasoning_details as what the provider wants back with the first call. They
// are lost without a call, and if they have more than the reasoning that was sent.
func (c *parsed) endDetails(p *openai.Parser) {
	list, first := c.details.list(), c.calls.first()
	switch {
	case c.details.size == 0:
	case list != nil && first != nil && first.extra == nil:
		p.Events.Send(event.Event{Kind: event.Memo, ID: first.id, Raw: list})
	case !c.open:
		p.Drop(inMessage + "reasoning_details")
	}
}

// sendContent sends the text, the refusal and the log probabilities of a choice.
func sendContent(p *openai.Parser, v *members.Values, choice int) {
	text := event.Event{Kind: event.Text, Choice: choice}
	if content := v.Filled(messageContent); jsonscan.IsString(content) {
		p.Events.SendText(text, content, v.At(messageContent))
	} else if content != nil {
		sendParts(p, v, choice)
	}
	if refusal := v.Filled(messageRefusal); refusal != nil {
		p.MarkRefused(choice)
		text.Refusal = true
		p.Events.SendText(text, refusal, jsonscan.Slot{})
	}
	if list := v.Filled(logprobs); list != nil {
		p.Events.Send(event.Event{Kind: event.Logprobs, Choice: choice, Logprobs: list})
	}
}

// sendImages sends the images of a message.
func sendImages(p *openai.Parser, v *members.Values, choice int) {
	raw := v.Filled(messageImages)
	switch {
	case raw == nil:
	case raw[0] != '[':
		p.DropContent(lostImages)
	default:
		eachPart(p, pictures, v, messageImages, func(image *members.Values) { sendImage(p, image, choice, lostImages) })
	}
}

// sendImage sends the image of a part. path is that of its loss.
func sendImage(p *openai.Parser, part *members.Values, choice int, path string) {
	url := part.Filled(partURL)
	if len(url) > 0 && url[0] == '{' {
		url = jsonscan.MemberOf(url, "url")
	}
	address := jsonscan.DecodedOf(url)
	u, _ := media.ParseURL(address)
	image := cmp.Or(event.NewMedia(u.Type, u.Data, path), event.NewLink(nil, address, path))
	if image == nil {
		p.DropContent(path)
		return
	}
	p.Events.Send(event.Event{Kind: event.Inline, Choice: choice, Media: image})
}

// Repeated records arguments, since later entries may begin another call only after the
// arguments of the last one are complete.
func (t *choiceParser) Repeated(e *event.Event) {
	if e.Kind == event.ToolArgs {
		calls := &t.choices[e.Choice].calls
		calls.all[calls.begun[e.Tool]].args.Add(e.Text)
	}
}

// End sends the calls that wait for the rest of their names. It returns an error if the
// answer as a whole is invalid.
func (t *choiceParser) End(p *openai.Parser) error {
	for i := range t.choices {
		t.choices[i].calls.flushLast(p)
		if err := t.choices[i].calls.end(); err != nil {
			return err
		}
	}
	return nil
}

// eachPart calls each for every element of an array in v, which is an object of the table.
func eachPart(p *openai.Parser, table *members.Table, v *members.Values, array members.Member, each func(part *members.Values)) {
	c := v.Cursor(array)
	var part members.Values
	for c.EnterArray(); c.Element(); {
		if part.Read(&c, table, &p.Dropped); c.Err() == nil {
			each(&part)
		}
	}
	p.Events.Refuse(c.Finish())
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
		p.Events.SendText(e, b.Raw(partData), jsonscan.Slot{})
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
		p.Events.SendText(e, signature, jsonscan.Slot{})
	}
	if signature != nil || choice.Whole {
		p.Events.Send(event.Event{Kind: event.ReasoningEnd, Choice: choice.Index})
		c.open = false
	}
}

// sendThinking sends the thinking of a part or a block: a string, or a list of texts.
func sendThinking(p *openai.Parser, b *members.Values, choice int) {
	e := event.Event{Kind: event.Reasoning, Choice: choice}
	switch raw := b.Filled(partThinking); {
	case jsonscan.IsString(raw):
		p.Events.SendText(e, raw, jsonscan.Slot{})
	case raw != nil && raw[0] == '[':
		eachPart(p, blocks, b, partThinking, func(text *members.Values) { p.Events.SendText(e, text.Raw(partText), jsonscan.Slot{}) })
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
			p.Events.SendText(e, b.Raw(partRefusal), jsonscan.Slot{})
		case text != nil:
			if texts++; texts > 1 {
				p.Events.Send(event.Event{Kind: event.TextEnd, Choice: choice})
			}
			p.Events.SendText(e, text, jsonscan.Slot{})
		case b.Filled(partURL) != nil:
			sendImage(p, b, choice, inPart+"image_url")
		case kind != `"text"`:
			p.DropContentNamed(inPart+"type=", jsonscan.Inner(b.Raw(partType)))
		}
	})
}
