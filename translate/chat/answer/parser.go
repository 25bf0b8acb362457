package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
)

var (
	errKind   = errors.New("a message, its content or its calls are of a kind of JSON that the format does not have")
	errImages = errors.New("an answer of nothing but images")
)

// NewParser returns a parser of one answer, a stream or a JSON body.
func NewParser(h event.Handler) *openai.Parser {
	return openai.NewParser(choices, &choiceParser{}, h)
}

// choiceParser sends the events of the choices of chat answers.
type choiceParser struct {
	choices   []parsed
	held      int // bytes of calls that wait for the end of their names
	hasImages bool
	hasEvents bool // the answer has texts, refusals or calls
}

// parsed is the state of a choice.
type parsed struct {
	calls calls
	open  bool // reasoning was sent since the last block of it ended
}

// SendChoice sends the events of a choice: reasoning, text, refusal, calls.
func (t *choiceParser) SendChoice(p *openai.Parser, v *members.Values, choice openai.Choice) {
	for len(t.choices) <= choice.Index {
		t.choices = append(t.choices, parsed{calls: calls{choice: len(t.choices), held: &t.held}})
	}
	c := &t.choices[choice.Index]
	if v.Unreadable() {
		p.Refuse(errKind)
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
	t.hasImages = t.hasImages || v.Filled(messageImages) != nil
	t.hasEvents = t.hasEvents || hasText || hasCalls || v.Filled(messageCall) != nil
	if v.Filled(messageThinking) != nil {
		eachPart(p, blocks, v, messageThinking, func(b *members.Values) { c.sendBlock(p, b, choice) })
	} else if v.Filled(reasoning) != nil {
		c.open = true
		p.SendText(event.Event{Kind: event.Reasoning, Choice: choice.Index}, v.Raw(reasoning), v.At(reasoning))
	}
	sendContent(p, v, choice.Index)
	if v.Filled(messageDetails) != nil && !c.open {
		p.Drop(inMessage + "reasoning_details")
	}
	if v.Filled(messageAudio) != nil {
		p.Drop(inMessage + "audio")
	}
	if v.Filled(messageImages) != nil {
		p.Drop(inMessage + "images")
	}
	switch {
	case hasCalls:
		c.calls.sendEntries(p, v, choice.Whole)
	case v.Filled(messageCall) != nil:
		c.calls.sendOnly(p, v)
	}
	if choice.Ends {
		c.calls.flushLast(p)
	}
}

// sendContent sends the text, the refusal and the log probabilities of a choice.
func sendContent(p *openai.Parser, v *members.Values, choice int) {
	text := event.Event{Kind: event.Text, Choice: choice}
	if content := v.Filled(messageContent); jsonscan.IsString(content) {
		p.SendText(text, content, v.At(messageContent))
	} else if content != nil {
		sendParts(p, v, choice)
	}
	if refusal := v.Filled(messageRefusal); refusal != nil {
		p.MarkRefused(choice)
		text.Refusal = true
		p.SendText(text, refusal, jsonscan.Slot{})
	}
	if list := v.Filled(logprobs); list != nil {
		p.Send(event.Event{Kind: event.Logprobs, Choice: choice, Logprobs: list})
	}
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
	if t.hasImages && !t.hasEvents {
		return errImages
	}
	for i := range t.choices {
		t.choices[i].calls.flushLast(p)
		if err := t.choices[i].calls.end(); err != nil {
			return err
		}
	}
	return nil
}
