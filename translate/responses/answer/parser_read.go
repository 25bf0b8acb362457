package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// reading contains the raw members of the data of one event: slices of the data, nil for
// absent members. A member has the same meaning in all kinds of events.
type reading struct {
	data                    []byte
	kind                    []byte
	output                  int64  // the index of the item, -1 for none
	itemID                  []byte // a string: the id of the item
	content                 int64  // the index of the part
	summary                 int64  // the index of the part of a summary
	text                    []byte // a string: a delta, or the whole text
	textAt, numberAt, padAt jsonscan.Slot
	logprobs, annotation    []byte
	item, part, response    []byte
	head                    head
	isError                 bool
	whole                   bool // a JSON answer is read
}

// The paths of objects, for reports of dropped members. Members of a stream's events have
// the paths of a JSON answer.
const (
	inEvent      = "event."
	inAnswer     = ""
	inItem       = "output[*]."
	inPart       = inItem + "content[*]."
	inSummary    = inItem + "summary[*]."
	inAnnotation = lostAnnotations + "[*]."

	lostAnnotations = inPart + "annotations"
)

// readEvent reads the data of an event. A repeated member is an error, since its value is
// ambiguous.
func (p *Parser) readEvent(data []byte) error {
	c := &p.cursor
	p.read = reading{data: data, output: -1, head: head{counts: p.counts}}
	*c = jsonscan.New(data)
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoObject, c.Finish())
	}
	for c.Member() {
		p.member(c)
	}
	return c.Finish()
}

func (p *Parser) member(c *jsonscan.Cursor) {
	r := &p.read
	switch string(c.Name()) {
	case "delta", "text", "refusal", "arguments", "input":
		p.readText(c)
	case "output_index":
		r.output = index(c)
	case "content_index":
		r.content = max(0, index(c))
	case "summary_index":
		r.summary = max(0, index(c))
	case "logprobs":
		r.logprobs = c.Skip()
	case "sequence_number":
		r.numberAt = slotOf(c, jsonscan.Number)
	case "obfuscation":
		r.padAt = slotOf(c, jsonscan.String)
	case "item_id":
		r.itemID = c.StringOrSkip()
	default:
		p.rareMember(c)
	}
}

// rareMember reads a member that deltas do not have.
func (p *Parser) rareMember(c *jsonscan.Cursor) {
	r := &p.read
	switch string(c.Name()) {
	case "type":
		r.kind = c.StringOrSkip()
	case "item":
		r.item = c.Skip()
	case "part":
		r.part = c.Skip()
	case "annotation":
		r.annotation = c.Skip()
	case "response":
		start := c.Offset()
		p.readHead(c)
		r.response = r.data[start:c.Offset()]
	case "error":
		r.isError = c.Kind() != jsonscan.Null
		c.Skip()
	case "annotation_index", "code", "message", "param", "name", "call_id":
		c.Skip()
	default:
		p.DropMember("event.*.", c)
	}
}

// readText reads the text of an event, a fragment or the whole.
func (p *Parser) readText(c *jsonscan.Cursor) {
	start := c.Offset()
	raw, ok := c.RawString()
	if !ok {
		p.DropMember("event.*.", c)
		return
	}
	p.read.text = raw
	p.read.textAt = jsonscan.Slot{Start: start, End: c.Offset()}
}

// readHead reads the response object at the cursor. Members that repeat the request are
// skipped.
func (p *Parser) readHead(c *jsonscan.Cursor) {
	h := &p.read.head
	for c.OpenObject(); c.Member(); {
		switch {
		case h.member(c):
		case repeatsRequest(c.Name()):
			c.Skip()
		default:
			p.DropMember(inAnswer, c)
		}
	}
}

// repeatsRequest reports whether a member of a response repeats the request, or describes
// how the answer was made.
func repeatsRequest(name []byte) bool {
	switch string(name) {
	case "object", "completed_at", "background", "conversation", "instructions", "max_output_tokens", "max_tool_calls",
		"metadata", "moderation", "parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key",
		"prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier", "store", "temperature", "text",
		"tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user", "access_programs", "tool_usage",
		"frequency_penalty", "presence_penalty", "billing", "output_text", "include", "context_management":
		return true
	default:
		return false
	}
}

// index consumes the index of an item or a part. It returns -1 for an invalid index.
func index(c *jsonscan.Cursor) int64 {
	n := int64(-1)
	token.ReadCount(c, &n)
	return n
}

// slotOf consumes a value and returns its position if it is of the kind.
func slotOf(c *jsonscan.Cursor, want jsonscan.Kind) jsonscan.Slot {
	start, kind := c.Offset(), c.Kind()
	if c.Skip(); kind != want {
		return jsonscan.Slot{}
	}
	return jsonscan.Slot{Start: start, End: c.Offset()}
}

// wholeItem contains the raw members of an item.
type wholeItem struct {
	kind, status             []byte
	id, callID, name         []byte
	arguments, input, sealed []byte
	content, summary         []byte // arrays
}

// ident returns the string by which the events about an item name the item: its id, or for
// a call without one its call_id.
func ident(id, callID []byte) []byte {
	if len(id) > len(`""`) {
		return id
	}
	return callID
}

// readItem reads a raw item. It returns false after a fault. The members of an item that
// core events cannot express are not reported as dropped, since the whole item is.
func (p *Parser) readItem(raw []byte) (w wholeItem, ok bool) {
	c := jsonscan.Skipped(raw)
	if w.kind = c.TypeAhead(); kindOf(w.kind) == unknownItem || !c.EnterObject() {
		return w, true
	}
	for c.Member() {
		p.itemMember(&w, &c)
	}
	return w, p.check(&c)
}

// check fails an answer with an invalid part.
func (p *Parser) check(c *jsonscan.Cursor) (ok bool) {
	err := c.Finish()
	if err != nil {
		p.fail(fault.Unusable(err))
	}
	return err == nil
}

func (p *Parser) itemMember(w *wholeItem, c *jsonscan.Cursor) {
	switch string(c.Name()) {
	case "id":
		w.id = c.StringOrSkip()
	case "call_id":
		w.callID = c.StringOrSkip()
	case "name":
		w.name = c.StringOrSkip()
	case "arguments":
		w.arguments = p.argumentsOf(c)
	case "input":
		w.input = p.stringOf(inItem, c)
	case "encrypted_content":
		w.sealed = p.stringOf(inItem, c)
	case "content":
		w.content = p.listOf(c)
	case "summary":
		w.summary = p.listOf(c)
	case "status":
		w.status = c.StringOrSkip()
	case "type", "role":
		c.Skip()
	default:
		p.DropMember(inItem, c)
	}
}

// stringOf consumes a string; a value of another kind is dropped.
func (p *Parser) stringOf(prefix string, c *jsonscan.Cursor) []byte {
	if c.Kind() != jsonscan.String {
		p.DropMember(prefix, c)
		return nil
	}
	return c.StringOrSkip()
}

// argumentsOf consumes the arguments of a call. Some servers send an object, which becomes
// a string.
func (p *Parser) argumentsOf(c *jsonscan.Cursor) []byte {
	if c.Kind() != jsonscan.Object {
		return p.stringOf(inItem, c)
	}
	return jsonscan.AppendString(nil, jsonscan.AppendCompact(nil, c.Skip()))
}

// listOf consumes an array; a value of another kind is dropped.
func (p *Parser) listOf(c *jsonscan.Cursor) []byte {
	if c.Kind() != jsonscan.Array {
		p.DropMember(inItem, c)
		return nil
	}
	return c.Skip()
}

// wholePart contains the raw members of a part of an item.
type wholePart struct {
	kind, text, refusal   []byte
	annotations, logprobs []byte // arrays
}

// readPart reads the part at the cursor; prefix is the path of its members.
func (p *Parser) readPart(prefix string, c *jsonscan.Cursor) (w wholePart) {
	if !c.EnterObject() {
		if !jsonscan.Blank(c.Skip()) {
			p.Drop(prefix[:len(prefix)-1])
		}
		return w
	}
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			w.kind = c.StringOrSkip()
		case "text":
			w.text = p.stringOf(prefix, c)
		case "refusal":
			w.refusal = p.stringOf(prefix, c)
		case "annotations":
			w.annotations = c.Skip()
		case "logprobs":
			w.logprobs = c.Skip()
		default:
			p.DropMember(prefix, c)
		}
	}
	return w
}
