// Package strict is the frame of the one strict pass over a request body: a
// cursor, the path of the place being read, and the first fault found.
//
// Which of several faults is reported does not depend on the order of the fields in the
// body: faults of the JSON itself, repeated members included, come first, in byte order;
// then those of the fields, in the order of their table. A pass never changes the body,
// never repeats text, prompts or tool inputs in a message, and allocates nothing for a
// body without a fault.
package strict

import (
	"errors"
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Pass reads one body. Make it with New. Its methods are those of the cursor,
// the path, and checks of the value at the cursor, each of which consumes it.
type Pass struct {
	jsonscan.Cursor
	View translate.View // the properties of the body that have been read

	body []byte
	kind bodyKind
	path path

	fields Fields
	field  string // the one that NextField read last, "" for none
	given  uint64 // the fields that the body has, a bit for each

	order uint64 // the position of a fault noted now in the order of validation
	found Mark
}

// bodyKind is the kind of the body as a whole.
type bodyKind uint8

const (
	object bodyKind = iota
	empty
	other
)

// Mark is the state of the faults of a pass: the one that comes first so far.
type Mark struct {
	order    uint64
	at, what string
	value    string // the end of the message, for the client only
}

// New returns the pass over a body with these fields. Messages write paths in the
// notation.
func New(body []byte, notation Notation, fields Fields) Pass {
	return Pass{
		Cursor: jsonscan.New(body), body: body, fields: fields,
		path: path{notation: notation}, found: Mark{order: math.MaxUint64},
	}
}

// enterBody enters the body's object. It returns false if the body is not an object.
func (p *Pass) enterBody() bool {
	if p.Offset() == len(p.body) && p.Err() == nil {
		p.kind = empty
		return false
	}
	if !p.EnterObject() {
		p.kind = other
		p.Skip()
		return false
	}
	return true
}

// Row sets the row of the table of fields that later faults belong to, from 1 to 255.
func (p *Pass) Row(row int) { p.order = uint64(row) << 56 }

// Item sets the element of the row's array that later faults belong to, the first being
// 0. They come before the faults of the element's parts.
func (p *Pass) Item(element int) { p.order = p.order>>56<<56 | uint64(element+1)<<28 }

// Part sets the part of the element that later faults belong to.
func (p *Pass) Part(part int) { p.order = p.order>>28<<28 | uint64(part) }

// Note notes a fault of the field at the path, unless a fault that comes earlier in the
// order of validation has been noted.
func (p *Pass) Note(what string) { p.NoteValue(what, "") }

// NoteValue is Note with the value as the end of the client's message, see Shown. The
// value is not logged.
func (p *Pass) NoteValue(what, value string) {
	if p.order < p.found.order {
		p.found = Mark{p.order, p.path.String(), what, value}
	}
}

// NoteMember notes a fault of a member of the object at the path.
func (p *Pass) NoteMember(name, what string) {
	p.Push(name)
	p.Note(what)
	p.Pop()
}

// Mark returns the faults noted so far, for Return.
func (p *Pass) Mark() Mark { return p.found }

// Return discards the faults noted since the mark. It is for objects whose type, on which
// the requirements depend, may come behind their other members.
func (p *Pass) Return(m Mark) { p.found = m }

// End ends the pass. It returns the view of a valid body, or the fault for the client.
func (p *Pass) End() (translate.View, *fault.Fault) {
	if fault := p.fault(); fault != nil {
		return translate.View{}, fault
	}
	return p.View, nil
}

func (p *Pass) fault() *fault.Fault {
	if p.kind == empty {
		return fault.BodyEmpty()
	}
	if err := p.Finish(); err != nil {
		return p.malformed(err)
	}
	if p.kind == other {
		return fault.BodyNotObject()
	}
	if p.found.what != "" {
		return fault.InvalidValue(p.found.at, p.found.what, p.found.value)
	}
	return nil
}

func (p *Pass) malformed(err error) *fault.Fault {
	if syntax := (*jsonscan.SyntaxError)(nil); errors.As(err, &syntax) {
		if syntax.TooDeep() {
			return fault.NestedTooDeeply(syntax.Offset, jsonscan.MaxDepth)
		}
		return fault.Malformed(syntax.Offset, err)
	}
	if twice := (*jsonscan.DuplicateError)(nil); errors.As(err, &twice) {
		p.path.push(step{name: twice.First})
		return fault.Repeated(p.path.String(), twice.First, twice.InMap)
	}
	return fault.InternalError(err)
}
