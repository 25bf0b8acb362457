package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

var errKind = errors.New("a message, its content or its calls are of a kind of JSON that the format does not have")

// NewParser returns a parser of one answer, a stream or a JSON body.
func NewParser(h event.Handler) *choices.Parser {
	return choices.NewParser(&teller{}, h)
}

// teller reads the choices of chat answers and sends their events.
type teller struct {
	deltas []delta // of the chunk at hand
	calls  []calls // by choice
	held   int     // bytes of calls that wait for their names, or the rest of them
	minds  []mind  // by choice
	cursor jsonscan.Cursor
	drawn  bool // there are images
	spoken bool // there is something that can be told
}

// delta contains the raw members of a choice of a chunk: slices of the chunk, nil for
// absent members.
type delta struct {
	content, reasoning     []byte // strings with their quotes
	refusal                []byte
	contentAt, reasoningAt jsonscan.Slot
	parts                  []byte // content that is an array
	thinking               []byte // thinking_blocks
	calls                  []byte
	callsAt                int
	call                   []byte // function_call
	logprobs               []byte
	annotated, spoken      bool // there are annotations, audio
	drawn                  bool // there are images
	detailed               bool // there are reasoning_details: usually the reasoning once more
	broken                 bool // a member cannot be read, and must not be lost
}

// Member reads a member of a choice. Some servers send a whole message in place
// of a delta, and so does every JSON answer.
func (t *teller) Member(p *choices.Parser, c *jsonscan.Cursor, nth int) {
	for len(t.deltas) <= nth {
		t.deltas = append(t.deltas, delta{})
	}
	d := &t.deltas[nth]
	switch string(c.Name()) {
	case "delta", "message":
		d.read(p, c)
	case "logprobs":
		d.readLogprobs(p, c)
	default:
		p.DropMember(choices.InChoice, c)
	}
}

// The paths of the members of a message, whether it came in deltas or not.
const (
	inMessage  = choices.InChoice + "message."
	inLogprobs = choices.InChoice + "logprobs."
)

func (d *delta) read(p *choices.Parser, c *jsonscan.Cursor) {
	if !c.EnterObject() {
		d.other(c)
		return
	}
	for c.Member() {
		d.member(p, c)
	}
}

func (d *delta) member(p *choices.Parser, c *jsonscan.Cursor) {
	switch string(c.Name()) {
	case "content":
		d.readContent(c)
	case "reasoning_content":
		if raw, at := p.Said(c, inMessage); len(raw) > len(`""`) {
			d.reasoning, d.reasoningAt = raw, at
		}
	case "reasoning":
		if raw, at := p.Said(c, inMessage); d.reasoning == nil && len(raw) > len(`""`) {
			d.reasoning, d.reasoningAt = raw, at
		}
	case "refusal":
		d.refusal, _ = p.Said(c, inMessage)
	case "thinking_blocks":
		if c.Kind() != jsonscan.Array {
			p.DropMember(inMessage, c)
			return
		}
		d.thinking = array(c)
	case "tool_calls":
		d.callsAt = c.Offset()
		d.calls = d.only(c, jsonscan.Array)
	case "function_call":
		d.call = d.only(c, jsonscan.Object)
	case "annotations":
		d.annotated = says(c) || d.annotated
	case "audio":
		d.spoken = says(c) || d.spoken
	case "images":
		d.drawn = says(c) || d.drawn
	case "reasoning_details":
		d.detailed = says(c) || d.detailed
	case "role":
		c.Skip()
	default:
		p.DropMember(inMessage, c)
	}
}

func (d *delta) readContent(c *jsonscan.Cursor) {
	switch c.Kind() {
	case jsonscan.String:
		d.content, d.contentAt = choices.SlotText(c)
	case jsonscan.Array:
		d.parts = c.Skip()
	default:
		d.other(c)
	}
}

// says skips a value, and reports whether it is neither null nor empty.
func says(c *jsonscan.Cursor) bool { return !jsonscan.Blank(c.Skip()) }

// only is kind for a value that must not be lost.
func (d *delta) only(c *jsonscan.Cursor, want jsonscan.Kind) []byte {
	if c.Kind() != want {
		d.other(c)
		return nil
	}
	return kind(c, want)
}

// other skips a value of a kind that nobody can read. Null and what is empty
// say nothing.
func (d *delta) other(c *jsonscan.Cursor) {
	d.broken = says(c) || d.broken
}

// readLogprobs reads the log probabilities of a choice's text.
func (d *delta) readLogprobs(p *choices.Parser, c *jsonscan.Cursor) {
	if !c.EnterObject() {
		p.DropMember(choices.InChoice, c)
		return
	}
	for c.Member() {
		if string(c.Name()) == "content" && c.Kind() == jsonscan.Array {
			d.logprobs = array(c)
		} else {
			p.DropMember(inLogprobs, c)
		}
	}
}

// Tell sends the events of a choice: reasoning, text, refusal, calls.
func (t *teller) Tell(p *choices.Parser, nth int, choice choices.Choice) {
	for len(t.calls) <= choice.Index {
		t.calls = append(t.calls, calls{choice: len(t.calls), held: &t.held})
		t.minds = append(t.minds, mind{})
	}
	calls := &t.calls[choice.Index]
	if nth < len(t.deltas) {
		t.tellDelta(p, calls, t.deltas[nth], choice)
		t.deltas[nth] = delta{}
	}
	if choice.Ends {
		calls.settle(p)
	}
}

func (t *teller) tellDelta(p *choices.Parser, calls *calls, d delta, choice choices.Choice) {
	if d.broken {
		p.Fail(fault.Unusable(errKind))
		return
	}
	if d.speaks() {
		calls.settle(p)
	}
	t.drawn = t.drawn || d.drawn
	t.spoken = t.spoken || d.writes() || d.calls != nil || d.call != nil
	t.tellReasoning(p, &d, choice)
	tellText(p, &d, choice)
	if d.detailed && !t.minds[choice.Index].open {
		p.Drop(inMessage + "reasoning_details")
	}
	dropRest(p, &d)
	switch {
	case d.calls != nil:
		t.tellCalls(p, calls, &d, choice)
	case d.call != nil:
		t.tellCall(p, calls, d.call)
	}
}

// speaks reports whether a choice has other content than calls.
func (d *delta) speaks() bool {
	return d.writes() || d.thinking != nil || d.reasoning != nil
}

// writes reports whether a choice has a text or a refusal.
func (d *delta) writes() bool {
	return len(d.content) > len(`""`) || len(d.refusal) > len(`""`) || d.parts != nil
}

// tellText sends the text, and the refusal, which is one too.
func tellText(p *choices.Parser, d *delta, choice choices.Choice) {
	e := event.Event{Kind: event.Text, Choice: choice.Index}
	p.SendText(e, d.content, d.contentAt)
	if d.parts != nil {
		tellParts(p, d.parts, choice)
	}
	if len(d.refusal) > len(`""`) {
		p.Refused(choice.Index)
		e.Refusal = true
		p.SendText(e, d.refusal, jsonscan.Slot{})
	}
	if d.logprobs != nil {
		p.SendEvent(event.Event{Kind: event.Logprobs, Choice: choice.Index, Logprobs: d.logprobs})
	}
}

// dropRest reports the members of a message that core events cannot express as dropped.
func dropRest(p *choices.Parser, d *delta) {
	if d.annotated {
		p.Drop(inMessage + "annotations")
	}
	if d.spoken {
		p.Drop(inMessage + "audio")
	}
	if d.drawn {
		p.Drop(inMessage + "images")
	}
}

var errImages = errors.New("an answer of nothing but images")

// Repeated follows the arguments of calls, whose end tells calls apart.
func (t *teller) Repeated(e *event.Event) {
	if e.Kind == event.ToolArgs {
		calls := &t.calls[e.Choice]
		calls.all[calls.begun[e.Tool]].args.Add(e.Text)
	}
}

// End sends the calls that wait for the rest of their names. It returns an error if the
// answer as a whole is invalid.
func (t *teller) End(p *choices.Parser) error {
	if t.drawn && !t.spoken {
		return errImages
	}
	for i := range t.calls {
		t.calls[i].settle(p)
		if err := t.calls[i].end(); err != nil {
			return err
		}
	}
	return nil
}

// array consumes a value, and returns it raw if it is an array that is not empty.
func array(c *jsonscan.Cursor) []byte { return kind(c, jsonscan.Array) }

func kind(c *jsonscan.Cursor, want jsonscan.Kind) []byte {
	kind := c.Kind()
	raw := c.Skip()
	if kind != want || len(raw) <= len("[]") {
		return nil
	}
	return raw
}
