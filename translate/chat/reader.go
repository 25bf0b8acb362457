package chat

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Level is an object of a request that may have members which no conversion
// reads.
type Level uint8

// The levels.
const (
	InRequest Level = iota
	InMessage
	InPart  // of a message's content
	InMedia // of a part
	InThinking
	InCall
	InCallFunction
	InTool
	InToolFunction
)

// Visitor is told the parts of a request, in the order of the body. What it is
// given is valid during the call, its slices as long as the body.
type Visitor interface {
	// Message is a message of the conversation. Its role may be missing or one
	// that nobody knows if the body has not passed Inspect.
	Message(index int, m *Message)
	// Other is a member that none of the structs has and that is not null. It
	// comes before the object that it stands in.
	Other(level Level, name, value []byte)
}

// Reader takes request bodies apart. Messages go to the visitor one by one, so
// that a body of many takes no more memory than one of a few. The zero Reader is
// ready; it may be used again, not at the same time.
type Reader struct {
	cursor  jsonscan.Cursor
	visitor Visitor
	message Message
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
		if string(c.Name()) == "messages" {
			r.messages()
		} else {
			member(c, request, InRequest, v)
		}
	}
	return c.Finish()
}

func (r *Reader) messages() {
	c := &r.cursor
	if !c.EnterArray() {
		c.Skip()
		return
	}
	for i := 0; c.Element(); i++ {
		r.message = Message{}
		if members(c, &r.message, InMessage, r.visitor) {
			r.visitor.Message(i, &r.message)
		}
	}
}

// slotted is an object of which some members are kept.
type slotted interface {
	// slot is where the member is kept, nil for one that Other is told of.
	slot(name []byte) *[]byte
}

// members consumes an object, or a value that is none.
func members(c *jsonscan.Cursor, o slotted, level Level, v Visitor) bool {
	if !c.EnterObject() {
		c.Skip()
		return false
	}
	for c.Member() {
		member(c, o, level, v)
	}
	return c.Err() == nil
}

// member consumes the value at the cursor and keeps it in its slot.
func member(c *jsonscan.Cursor, o slotted, level Level, v Visitor) {
	if c.Null() {
		return
	}
	name := c.Name()
	value := c.Skip()
	if slot := o.slot(name); slot != nil {
		*slot = value
	} else if value != nil { // nil after an error
		v.Other(level, name, value)
	}
}

// List reads the elements of an array that a Walk has given. The zero List has
// none.
type List struct {
	cursor  jsonscan.Cursor
	visitor Visitor
	open    bool
	media   Media
	part    Part
	tool    Tool
	funct   Function
}

// Begin begins to read a raw value, and reports whether it is an array.
func (l *List) Begin(raw []byte, v Visitor) bool {
	l.open = len(raw) > 0 && raw[0] == '['
	if !l.open {
		return false
	}
	l.cursor, l.visitor = jsonscan.Again(raw), v
	return l.cursor.EnterArray()
}

// Part returns the next element as a part, nil after the last. It is valid until
// the next call, like all that a List returns.
func (l *List) Part(level Level) *Part {
	if !l.open || !l.cursor.Element() {
		return nil
	}
	l.part = Part{}
	members(&l.cursor, &l.part, level, l.visitor)
	return &l.part
}

// Tool returns the next element as a tool or a call, nil after the last.
func (l *List) Tool(level Level) *Tool {
	if !l.open || !l.cursor.Element() {
		return nil
	}
	l.tool = Tool{}
	members(&l.cursor, &l.tool, level, l.visitor)
	return &l.tool
}

// Media reads the raw object of an image or a file. A value of another kind has
// no members.
func (l *List) Media(raw []byte, v Visitor) *Media {
	l.media = Media{}
	c := jsonscan.Again(raw)
	members(&c, &l.media, InMedia, v)
	return &l.media
}

// Function reads the raw function of a tool or a call. A value of another kind
// has no members.
func (l *List) Function(raw []byte, level Level, v Visitor) *Function {
	l.funct = Function{}
	c := jsonscan.Again(raw)
	members(&c, &l.funct, level, v)
	return &l.funct
}
