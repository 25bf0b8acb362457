package answer

import (
	"bytes"
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// reading contains the raw members of the data of one event: strings with their quotes,
// nil for absent members. A member has the same meaning in all kinds of events.
type reading struct {
	kind     []byte
	index    int64
	model    []byte
	service  []byte // usage.service_tier
	hasUsage bool
	isError  bool
	block    content
	delta    change

	inMessage bool // the delta is of the message, not of a block
}

// content is a content block.
type content struct {
	kind                            []byte
	text, thinking, signature, data []byte
	id, name, input                 []byte
	citations                       []byte // the array
}

// change is the delta of a content_block_delta or a message_delta.
type change struct {
	kind                            []byte
	text, thinking, signature, json []byte
	reason, stop, explanation       []byte
	citation                        []byte        // the object
	texts                           int           // the number of strings that may be sent
	at                              jsonscan.Slot // the position of the last one
}

// The paths of objects, for reports of dropped members. Members of a stream's events have
// the paths of a JSON answer.
const (
	inAnswer = ""
	inBlock  = "content.*."
	inStops  = "stop_details."
)

// readEvent reads the data of an event. Its counts of usage replace earlier ones. A
// repeated member is an error, since its value is ambiguous.
func (p *Parser) readEvent(event sse.Event) error {
	c := &p.cursor
	p.read = reading{inMessage: string(event.Name) == "message_delta"}
	*c = jsonscan.New(event.Data)
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoObject, c.Finish())
	}
	for c.Member() {
		p.readMember(&p.read, c)
	}
	return c.Finish()
}

func (p *Parser) readMember(r *reading, c *jsonscan.Cursor) {
	switch string(c.Name()) {
	case "type":
		r.kind = c.StringOrSkip()
		r.inMessage = r.inMessage || string(r.kind) == `"message_delta"`
	case "index":
		token.ReadCount(c, &r.index)
	case "message":
		p.readMessage(r, c)
	case "content_block":
		p.readBlock(&r.block, c)
	case "delta":
		p.readDelta(r, c)
	case "usage":
		p.readUsage(r, c)
	case "error":
		r.isError = c.Kind() != jsonscan.Null
		c.Skip()
	default:
		p.DropMember(inAnswer, c)
	}
}

// name returns the type of the data, for events without a name. Some servers write
// errors with neither.
func (r *reading) name(room *[]byte) []byte {
	*room = jsonscan.AppendText((*room)[:0], r.kind)
	if len(*room) == 0 && r.isError {
		*room = append(*room, "error"...)
	}
	return *room
}

// readMessage reads the message of a message_start, whose content is empty.
func (p *Parser) readMessage(r *reading, c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "model":
			r.model = c.StringOrSkip()
		case "usage":
			p.readUsage(r, c)
		case "id", "type", "role", "stop_reason", "stop_sequence":
			c.Skip()
		case "content":
			if !jsonscan.Blank(c.Skip()) {
				p.Drop(lostBlock)
			}
		default:
			p.DropMember(inAnswer, c)
		}
	}
}

// readUsage reads the counts, and the service tier among them.
func (p *Parser) readUsage(r *reading, c *jsonscan.Cursor) {
	if c.Kind() != jsonscan.Object {
		c.Skip()
		return
	}
	r.hasUsage = true
	ahead := *c
	p.counts.Read(c, usageRows)
	p.usage = p.usage.Then(p.counts.Usage())
	ahead.EnterObject()
	for ahead.Member() {
		if string(ahead.Name()) == "service_tier" {
			r.service = ahead.StringOrSkip()
		} else {
			ahead.Skip()
		}
	}
}

func (r *reading) tierOr(before event.Tier) event.Tier {
	if r.service == nil {
		return before
	}
	return Tiers.Read(r.service)
}

// readBlock reads a content block. The members of an unknown block are not reported as
// dropped, since the block as a whole is.
func (p *Parser) readBlock(b *content, c *jsonscan.Cursor) {
	if b.kind = c.TypeAhead(); !b.expressible() || !c.EnterObject() {
		c.Skip()
		return
	}
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			c.Skip()
		case "text":
			b.text = p.stringOrDrop(c)
		case "thinking":
			b.thinking = p.stringOrDrop(c)
		case "signature":
			b.signature = p.stringOrDrop(c)
		case "data":
			b.data = p.stringOrDrop(c)
		case "id":
			b.id = c.StringOrSkip()
		case "name":
			b.name = c.StringOrSkip()
		case "input":
			b.input = c.Skip()
		case "citations":
			b.citations = c.Skip()
		default:
			p.DropMember(inBlock, c)
		}
	}
}

// stringOrDrop consumes a string of a block. It reports a value of another kind as
// dropped and returns nil.
func (p *Parser) stringOrDrop(c *jsonscan.Cursor) []byte {
	if c.Kind() != jsonscan.String {
		p.DropMember(inBlock, c)
		return nil
	}
	return c.StringOrSkip()
}

func (b *content) kindOf() blockKind { return blockKindOf(jsonscan.AppendText(nil, b.kind)) }

// expressible reports whether core events can express blocks of its type.
func (b *content) expressible() bool {
	switch b.kindOf() {
	case textBlock, thinkingBlock, redactedThinkingBlock, toolUseBlock:
		return true
	default:
		return false
	}
}

// readDelta reads a delta. Deltas of unknown types are skipped.
func (p *Parser) readDelta(r *reading, c *jsonscan.Cursor) {
	d := &r.delta
	if d.kind = c.TypeAhead(); !d.known() || !c.EnterObject() {
		c.Skip()
		return
	}
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			c.Skip()
		case "text":
			d.text = d.sendable(p, c)
		case "thinking":
			d.thinking = d.sendable(p, c)
		case "signature":
			d.signature = d.sendable(p, c)
		case "partial_json":
			d.json = d.sendable(p, c)
		case "citation":
			d.citation = c.Skip()
		case "stop_reason":
			d.reason = c.StringOrSkip()
		case "stop_sequence":
			d.stop = c.StringOrSkip()
		case "stop_details":
			d.explanation = p.readStops(c)
		default:
			p.DropMember(r.path(), c)
		}
	}
}

// path returns the path of the members of a delta.
func (r *reading) path() string {
	if r.inMessage {
		return inAnswer
	}
	return inBlock
}

// sendable consumes a string that may be sent, and keeps its position.
func (d *change) sendable(p *Parser, c *jsonscan.Cursor) []byte {
	start := c.Offset()
	raw := p.stringOrDrop(c)
	if d.texts++; raw != nil {
		d.at = jsonscan.Slot{Start: start, End: c.Offset()}
	}
	return raw
}

// readStops consumes stop_details and returns the explanation, the only member that other
// formats can express.
func (p *Parser) readStops(c *jsonscan.Cursor) (explanation []byte) {
	if !c.EnterObject() {
		p.DropMember(inAnswer, c)
		return nil
	}
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			c.Skip()
		case "explanation":
			explanation = c.StringOrSkip()
		case "category":
			if !jsonscan.Blank(c.Skip()) {
				p.Drop(lostCategory)
			}
		default:
			p.DropMember(inStops, c)
		}
	}
	return explanation
}

// name returns the raw type of a delta, without its quotes.
func (d *change) name() []byte { return bytes.Trim(d.kind, `"`) }

// known reports whether the type of a delta is known. A delta without a type is
// recognized by its members.
func (d *change) known() bool {
	switch string(d.kind) {
	case "", `"text_delta"`, `"thinking_delta"`, `"signature_delta"`, `"input_json_delta"`, `"citations_delta"`:
		return true
	default:
		return false
	}
}
