package messages

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Level is an object of a request that may have members which no conversion
// reads.
type Level uint8

// The levels.
const (
	InRequest Level = iota
	InMessage
	InBlock
	InSource
	InTool
)

// Visitor is told the parts of a request that may be many, in the order of the
// body. The structs it is given are valid during the call, their slices as long
// as the body.
type Visitor interface {
	// Begin begins a message; its role may be "" or one that nobody knows if the
	// body has not passed Inspect.
	Begin(index int, role string)
	// Text is the content of the message when it is one text: a raw string.
	Text(raw []byte)
	// Block is a block of the message's content.
	Block(index int, b *Block)
	// End ends the message.
	End(m *Message)
	// Tool is an entry of the tools.
	Tool(index int, t *Tool)
	// Other is a member that none of the structs has and that is not null. It
	// comes before the object that it stands in, its name is valid during the call.
	Other(level Level, name, value []byte)
}

// Reader takes request bodies apart. What has no bound goes to the visitor
// piece by piece, so that a body of many blocks takes no more memory than one
// of a few. The zero Reader is ready; it may be used again, not at the same time.
type Reader struct {
	cursor  jsonscan.Cursor
	visitor Visitor
	message Message
	block   Block
	source  Source
	tool    Tool
}

// Walk reads a body that has passed Inspect. Of another one it may return an error.
func (r *Reader) Walk(body []byte, request *Request, v Visitor) error {
	r.cursor, r.visitor = jsonscan.Again(body), v
	c := &r.cursor
	if !c.EnterObject() {
		c.Skip()
		return c.Finish()
	}
	for c.Member() {
		switch string(c.Name()) {
		case "messages":
			r.messages()
		case "tools":
			r.tools()
		default:
			r.member(request, InRequest)
		}
	}
	return c.Finish()
}

// slotted is an object of which some members are kept.
type slotted interface {
	// slot is where the member is kept, nil for one that Other is told of.
	slot(name []byte) *[]byte
}

// object consumes an object, or a value that is none.
func (r *Reader) object(o slotted, level Level) {
	if !r.cursor.EnterObject() {
		r.cursor.Skip()
		return
	}
	for r.cursor.Member() {
		r.member(o, level)
	}
}

// member consumes the value at the cursor and keeps it in its slot.
func (r *Reader) member(o slotted, level Level) {
	if r.cursor.Null() {
		return
	}
	name := r.cursor.Name()
	value := r.cursor.Skip()
	if slot := o.slot(name); slot != nil {
		*slot = value
	} else if value != nil { // nil after an error
		r.visitor.Other(level, name, value)
	}
}

func (r *Reader) messages() {
	c := &r.cursor
	if !c.EnterArray() {
		c.Skip()
		return
	}
	for i := 0; c.Element(); i++ {
		if c.EnterObject() {
			r.readMessage(i)
		} else {
			c.Skip()
		}
	}
}

// readMessage reads a message. Content that stands before its role waits for it.
func (r *Reader) readMessage(index int) {
	c := &r.cursor
	r.message = Message{}
	var waiting []byte
	begun := false
	for c.Member() {
		switch name := c.Name(); {
		case string(name) == "role" && c.Kind() == jsonscan.String:
			role, _ := c.Text()
			r.visitor.Begin(index, roleName(role))
			begun = true
		case string(name) == "content" && begun:
			r.content()
		case string(name) == "content":
			waiting = c.Skip()
		default:
			r.member(&r.message, InMessage)
		}
	}
	if !begun {
		r.visitor.Begin(index, "")
	}
	if waiting != nil {
		later := Reader{cursor: jsonscan.Again(waiting), visitor: r.visitor}
		later.content()
	}
	r.visitor.End(&r.message)
}

// roleName spares the copy of a role that everyone uses.
func roleName(role []byte) string {
	switch string(role) {
	case "user":
		return "user"
	case "assistant":
		return "assistant"
	}
	return string(role)
}

func (r *Reader) content() {
	c := &r.cursor
	if raw, ok := c.RawString(); ok {
		r.visitor.Text(raw)
		return
	}
	if !c.EnterArray() {
		c.Skip()
		return
	}
	for i := 0; c.Element(); i++ {
		r.visitor.Block(i, r.readBlock())
	}
}

// Blocks begins to read the raw content of a block, and reports whether that is
// an array of blocks; Next gives them.
func (r *Reader) Blocks(raw []byte, v Visitor) bool {
	r.cursor, r.visitor = jsonscan.Again(raw), v
	return r.cursor.EnterArray()
}

// Next returns the next block, nil after the last. It is valid until the next call.
func (r *Reader) Next() *Block {
	if !r.cursor.Element() {
		return nil
	}
	return r.readBlock()
}

func (r *Reader) readBlock() *Block {
	r.block = Block{}
	r.object(&r.block, InBlock)
	r.block.Type = decoded(r.block.Type)
	return &r.block
}

// Source reads the raw source of a block. It is valid until the next call.
func (r *Reader) Source(raw []byte, v Visitor) *Source {
	r.cursor, r.visitor = jsonscan.Again(raw), v
	r.source = Source{}
	r.object(&r.source, InSource)
	r.source.Type = decoded(r.source.Type)
	return &r.source
}

func (r *Reader) tools() {
	c := &r.cursor
	if !c.EnterArray() {
		c.Skip()
		return
	}
	for i := 0; c.Element(); i++ {
		r.tool = Tool{}
		r.object(&r.tool, InTool)
		r.visitor.Tool(i, &r.tool)
	}
}

// decoded is the text of a raw value, nil unless that is a string.
func decoded(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	if text := raw[1 : len(raw)-1]; bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return jsonscan.AppendText(nil, raw)
}
