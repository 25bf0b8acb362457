package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
)

var errKind = errors.New("a message, its content or its calls are of a kind of JSON that the format does not have")

// NewParser returns a parser of one answer, a stream or a JSON body.
func NewParser(h event.Handler) *openai.Parser {
	return openai.NewParser(&choiceParser{}, h)
}

// choiceParser reads the choices of chat answers and sends their events.
type choiceParser struct {
	deltas    []delta         // of the current chunk
	calls     []calls         // by choice
	held      int             // bytes of calls that wait for the end of their names
	thinking  []thinkingState // by choice
	cursor    jsonscan.Cursor
	hasImages bool
	hasEvents bool // the answer has texts, refusals or calls
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
	hasAnnotations         bool
	hasAudio               bool
	hasImages              bool
	hasDetails             bool // reasoning_details, which usually repeat the reasoning
	unreadable             bool // a member that must not be lost is of a wrong kind
}

// ReadMember reads a member of a choice. Every JSON answer, and the streams of some
// servers, have a whole message instead of a delta.
func (t *choiceParser) ReadMember(p *openai.Parser, c *jsonscan.Cursor, nth int) {
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
		p.DropMember(openai.InChoice, c)
	}
}

// The paths of the members of a message, whole or in deltas.
const (
	inMessage  = openai.InChoice + "message."
	inLogprobs = openai.InChoice + "logprobs."
)

func (d *delta) read(p *openai.Parser, c *jsonscan.Cursor) {
	if !c.EnterObject() {
		d.skipUnreadable(c)
		return
	}
	for c.Member() {
		d.member(p, c)
	}
}

func (d *delta) member(p *openai.Parser, c *jsonscan.Cursor) {
	switch string(c.Name()) {
	case "content":
		d.readContent(c)
	case "reasoning_content":
		if raw, at := p.StringOrDrop(c, inMessage); len(raw) > len(`""`) {
			d.reasoning, d.reasoningAt = raw, at
		}
	case "reasoning":
		if raw, at := p.StringOrDrop(c, inMessage); d.reasoning == nil && len(raw) > len(`""`) {
			d.reasoning, d.reasoningAt = raw, at
		}
	case "refusal":
		d.refusal, _ = p.StringOrDrop(c, inMessage)
	case "thinking_blocks":
		if c.Kind() != jsonscan.Array {
			p.DropMember(inMessage, c)
			return
		}
		d.thinking = array(c)
	case "tool_calls":
		d.callsAt = c.Offset()
		d.calls = d.ofKind(c, jsonscan.Array)
	case "function_call":
		d.call = d.ofKind(c, jsonscan.Object)
	case "annotations":
		d.hasAnnotations = skipNonBlank(c) || d.hasAnnotations
	case "audio":
		d.hasAudio = skipNonBlank(c) || d.hasAudio
	case "images":
		d.hasImages = skipNonBlank(c) || d.hasImages
	case "reasoning_details":
		d.hasDetails = skipNonBlank(c) || d.hasDetails
	case "role":
		c.Skip()
	default:
		p.DropMember(inMessage, c)
	}
}

func (d *delta) readContent(c *jsonscan.Cursor) {
	switch c.Kind() {
	case jsonscan.String:
		d.content, d.contentAt = openai.StringWithSlot(c)
	case jsonscan.Array:
		d.parts = c.Skip()
	default:
		d.skipUnreadable(c)
	}
}

// skipNonBlank consumes a value and reports whether it is neither null nor empty.
func skipNonBlank(c *jsonscan.Cursor) bool { return !jsonscan.Blank(c.Skip()) }

// ofKind consumes a value that must not be lost, and returns it raw if it is of the kind
// and not empty.
func (d *delta) ofKind(c *jsonscan.Cursor, want jsonscan.Kind) []byte {
	if c.Kind() != want {
		d.skipUnreadable(c)
		return nil
	}
	return kind(c, want)
}

// skipUnreadable consumes a value of a wrong kind. Only null and empty values may be
// skipped without an error.
func (d *delta) skipUnreadable(c *jsonscan.Cursor) {
	d.unreadable = skipNonBlank(c) || d.unreadable
}

// readLogprobs reads the log probabilities of a choice's text.
func (d *delta) readLogprobs(p *openai.Parser, c *jsonscan.Cursor) {
	if !c.EnterObject() {
		p.DropMember(openai.InChoice, c)
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

// SendChoice sends the events of a choice: reasoning, text, refusal, calls.
func (t *choiceParser) SendChoice(p *openai.Parser, nth int, choice openai.Choice) {
	for len(t.calls) <= choice.Index {
		t.calls = append(t.calls, calls{choice: len(t.calls), held: &t.held})
		t.thinking = append(t.thinking, thinkingState{})
	}
	calls := &t.calls[choice.Index]
	if nth < len(t.deltas) {
		t.sendDelta(p, calls, t.deltas[nth], choice)
		t.deltas[nth] = delta{}
	}
	if choice.Ends {
		calls.flushLast(p)
	}
}

func (t *choiceParser) sendDelta(p *openai.Parser, calls *calls, d delta, choice openai.Choice) {
	if d.unreadable {
		p.Fail(fault.Unusable(errKind))
		return
	}
	if d.hasContent() {
		calls.flushLast(p)
	}
	t.hasImages = t.hasImages || d.hasImages
	t.hasEvents = t.hasEvents || d.hasText() || d.calls != nil || d.call != nil
	t.sendReasoning(p, &d, choice)
	sendText(p, &d, choice)
	if d.hasDetails && !t.thinking[choice.Index].open {
		p.Drop(inMessage + "reasoning_details")
	}
	dropRest(p, &d)
	switch {
	case d.calls != nil:
		t.sendCalls(p, calls, &d, choice)
	case d.call != nil:
		t.sendCall(p, calls, d.call)
	}
}

// hasContent reports whether a choice has content other than calls.
func (d *delta) hasContent() bool {
	return d.hasText() || d.thinking != nil || d.reasoning != nil
}

// hasText reports whether a choice has a text or a refusal.
func (d *delta) hasText() bool {
	return len(d.content) > len(`""`) || len(d.refusal) > len(`""`) || d.parts != nil
}

// sendText sends the text, the refusal and the log probabilities.
func sendText(p *openai.Parser, d *delta, choice openai.Choice) {
	e := event.Event{Kind: event.Text, Choice: choice.Index}
	p.SendText(e, d.content, d.contentAt)
	if d.parts != nil {
		sendParts(p, d.parts, choice)
	}
	if len(d.refusal) > len(`""`) {
		p.MarkRefused(choice.Index)
		e.Refusal = true
		p.SendText(e, d.refusal, jsonscan.Slot{})
	}
	if d.logprobs != nil {
		p.SendEvent(event.Event{Kind: event.Logprobs, Choice: choice.Index, Logprobs: d.logprobs})
	}
}

// dropRest reports the members of a message that core events cannot express as dropped.
func dropRest(p *openai.Parser, d *delta) {
	if d.hasAnnotations {
		p.Drop(inMessage + "annotations")
	}
	if d.hasAudio {
		p.Drop(inMessage + "audio")
	}
	if d.hasImages {
		p.Drop(inMessage + "images")
	}
}

var errImages = errors.New("an answer of nothing but images")

// Repeated records arguments, since later entries may begin another call only after the
// arguments of the last one are complete.
func (t *choiceParser) Repeated(e *event.Event) {
	if e.Kind == event.ToolArgs {
		calls := &t.calls[e.Choice]
		calls.all[calls.begun[e.Tool]].args.Add(e.Text)
	}
}

// End sends the calls that wait for the rest of their names. It returns an error if the
// answer as a whole is invalid.
func (t *choiceParser) End(p *openai.Parser) error {
	if t.hasImages && !t.hasEvents {
		return errImages
	}
	for i := range t.calls {
		t.calls[i].flushLast(p)
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
