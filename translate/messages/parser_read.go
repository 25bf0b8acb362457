package messages

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// reading is what the data of one event say, as they are written: strings with
// their quotes, nil for what is not there. The kinds of events have no member
// in common that would mean something else in another.
type reading struct {
	kind     []byte
	index    int64
	model    []byte
	service  []byte // usage.service_tier
	hasUsage bool
	isError  bool
	block    content
	delta    change
}

// content is a content block.
type content struct {
	kind                            []byte
	text, thinking, signature, data []byte
	id, name, input                 []byte
	cited                           bool // it has citations
}

// change is the delta of a content_block_delta or a message_delta.
type change struct {
	kind                            []byte
	text, thinking, signature, json []byte
	reason, stop, explanation       []byte
	cites                           bool // it is a citation
	texts                           int  // strings that may be sent
	at                              slot // of the last of them
}

// read reads the data of an event. Counts of usage that are there overwrite. A
// member that stands twice is an error here: nobody can say which was meant.
func (r *reading) read(c *jsonscan.Cursor, data []byte, usage *translate.Usage) error {
	*r = reading{}
	*c = jsonscan.New(data)
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoObject, c.Finish())
	}
	for c.Member() {
		r.member(c, usage)
	}
	return c.Finish()
}

func (r *reading) member(c *jsonscan.Cursor, usage *translate.Usage) {
	switch string(c.Name()) {
	case "type":
		r.kind = rawText(c)
	case "index":
		translate.ReadCount(c, &r.index)
	case "message":
		r.message(c, usage)
	case "content_block":
		r.block.read(c)
	case "delta":
		r.delta.read(c)
	case "usage":
		r.usage(c, usage)
	case "error":
		r.isError = c.Kind() != jsonscan.Null
		c.Skip()
	default:
		c.Skip()
	}
}

// name is the type that the data name, for events without a name of their own;
// some servers write their errors without either.
func (r *reading) name(room *[]byte) []byte {
	*room = jsonscan.AppendText((*room)[:0], r.kind)
	if len(*room) == 0 && r.isError {
		*room = append(*room, "error"...)
	}
	return *room
}

func (r *reading) message(c *jsonscan.Cursor, usage *translate.Usage) {
	if !c.EnterObject() {
		c.Skip()
		return
	}
	for c.Member() {
		switch string(c.Name()) {
		case "model":
			r.model = rawText(c)
		case "usage":
			r.usage(c, usage)
		default:
			c.Skip()
		}
	}
}

// usage reads the counts, and the tier that stands among them.
func (r *reading) usage(c *jsonscan.Cursor, usage *translate.Usage) {
	if c.Kind() != jsonscan.Object {
		c.Skip()
		return
	}
	r.hasUsage = true
	ahead := *c
	readUsage(c, usage)
	ahead.EnterObject()
	for ahead.Member() {
		if string(ahead.Name()) == "service_tier" {
			r.service = rawText(&ahead)
		} else {
			ahead.Skip()
		}
	}
}

func (r *reading) tierOr(before translate.Tier) translate.Tier {
	if r.service == nil {
		return before
	}
	return translate.ReadMessagesTier(string(jsonscan.AppendText(nil, r.service)))
}

// read reads a content block.
func (b *content) read(c *jsonscan.Cursor) {
	if !c.EnterObject() {
		c.Skip()
		return
	}
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			b.kind = rawText(c)
		case "text":
			b.text = rawText(c)
		case "thinking":
			b.thinking = rawText(c)
		case "signature":
			b.signature = rawText(c)
		case "data":
			b.data = rawText(c)
		case "id":
			b.id = rawText(c)
		case "name":
			b.name = rawText(c)
		case "input":
			b.input = c.Skip()
		case "citations":
			b.cited = len(c.Skip()) > len(`null`)
		default:
			c.Skip()
		}
	}
}

func (b *content) kindOf() blockKind { return blockKindOf(jsonscan.AppendText(nil, b.kind)) }

func (d *change) read(c *jsonscan.Cursor) {
	if !c.EnterObject() {
		c.Skip()
		return
	}
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			d.kind = rawText(c)
		case "text":
			d.text = d.sayable(c)
		case "thinking":
			d.thinking = d.sayable(c)
		case "signature":
			d.signature = d.sayable(c)
		case "partial_json":
			d.json = d.sayable(c)
		case "citation":
			d.cites = true
			c.Skip()
		case "stop_reason":
			d.reason = rawText(c)
		case "stop_sequence":
			d.stop = rawText(c)
		case "stop_details":
			d.explanation = explanationOf(c)
		default:
			c.Skip()
		}
	}
}

// sayable reads a string that may be sent.
func (d *change) sayable(c *jsonscan.Cursor) []byte {
	start := c.Offset()
	raw := rawText(c)
	d.texts, d.at = d.texts+1, slot{start, c.Offset()}
	return raw
}

// explanationOf reads the explanation of stop_details.
func explanationOf(c *jsonscan.Cursor) (explanation []byte) {
	if !c.EnterObject() {
		c.Skip()
		return nil
	}
	for c.Member() {
		if string(c.Name()) == "explanation" {
			explanation = rawText(c)
		} else {
			c.Skip()
		}
	}
	return explanation
}

// known reports whether the gateway knows what a delta of its type means. One
// without a type is known by its members.
func (d *change) known() bool {
	switch string(d.kind) {
	case "", `"text_delta"`, `"thinking_delta"`, `"signature_delta"`, `"input_json_delta"`, `"citations_delta"`:
		return true
	default:
		return false
	}
}
