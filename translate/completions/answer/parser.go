package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
)

// NewParser returns a parser of one answer, a stream or a JSON body (wire
// format D.6).
func NewParser(h event.Handler) *openai.Parser {
	return openai.NewParser(&choiceParser{}, h)
}

// choiceParser reads the choices of completions answers and sends their events.
type choiceParser struct {
	read []choiceMembers // of the current chunk
	list logprobList
}

// choiceMembers contains the raw members of a choice of a chunk: slices of the chunk, nil
// for absent members.
type choiceMembers struct {
	text, reasoning     []byte // with their quotes
	textAt, reasoningAt jsonscan.Slot
	logprobs            []byte
}

// ReadMember reads a member of a choice. The format has no reasoning, but some servers
// send it in the members of chat answers.
func (t *choiceParser) ReadMember(p *openai.Parser, c *jsonscan.Cursor, nth int) {
	for len(t.read) <= nth {
		t.read = append(t.read, choiceMembers{})
	}
	s := &t.read[nth]
	switch string(c.Name()) {
	case "text":
		s.text, s.textAt = p.StringOrDrop(c, openai.InChoice)
	case "reasoning_content":
		if raw, at := p.StringOrDrop(c, openai.InChoice); len(raw) > len(`""`) {
			s.reasoning, s.reasoningAt = raw, at
		}
	case "reasoning":
		if raw, at := p.StringOrDrop(c, openai.InChoice); s.reasoning == nil && len(raw) > len(`""`) {
			s.reasoning, s.reasoningAt = raw, at
		}
	case "logprobs":
		if c.Kind() == jsonscan.Object {
			s.logprobs = c.Skip()
			return
		}
		fallthrough
	default:
		p.DropMember(openai.InChoice, c)
	}
}

// SendChoice sends the reasoning, the text and the log probabilities of a choice.
func (t *choiceParser) SendChoice(p *openai.Parser, nth int, choice openai.Choice) {
	if nth >= len(t.read) {
		return
	}
	s := t.read[nth]
	t.read[nth] = choiceMembers{}
	p.SendText(event.Event{Kind: event.Reasoning, Choice: choice.Index}, s.reasoning, s.reasoningAt)
	p.SendText(event.Event{Kind: event.Text, Choice: choice.Index}, s.text, s.textAt)
	if list := t.list.read(&p.Dropped, s.logprobs); list != nil {
		p.SendEvent(event.Event{Kind: event.Logprobs, Choice: choice.Index, Logprobs: list})
	}
}

// Repeated does nothing: texts have no state.
func (t *choiceParser) Repeated(*event.Event) {}

// End returns no error: an answer may be empty.
func (t *choiceParser) End(*openai.Parser) error { return nil }
