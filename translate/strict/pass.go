// Package strict is the frame of the one strict pass over a request body: a
// cursor, the path of the place being read, and the first fault found.
//
// It promises that the fault reported is the one that the order of validation
// asks for: anything wrong with the JSON itself, repeated members included,
// comes first, in byte order; then the fields, in the order of their table,
// wherever they stand in the body. It never changes the body, never repeats
// text, prompts or tool inputs in a message, and allocates nothing for a body
// without a fault.
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
	View translate.View // what is known of the body so far

	body  []byte
	shape shape
	path  path

	fields Fields
	field  string // the one that NextField read last, "" for none
	given  uint64 // the fields that the body has, a bit for each

	order uint64 // where in the order of validation a fault would stand now
	found Mark
}

// shape is what the body as a whole turned out to be.
type shape uint8

const (
	object shape = iota
	empty
	other
)

// Mark is what a pass has found so far: the fault that comes first.
type Mark struct {
	order    uint64
	at, what string
	value    string // as it ends the message for the client
}

// New returns the pass over a body with these fields, whose paths are written in
// the notation.
func New(body []byte, notation Notation, fields Fields) Pass {
	return Pass{
		Cursor: jsonscan.New(body), body: body, fields: fields,
		path: path{notation: notation}, found: Mark{order: math.MaxUint64},
	}
}

// enterBody enters the body's object. It returns false when there is none.
func (p *Pass) enterBody() bool {
	if p.Offset() == len(p.body) && p.Err() == nil {
		p.shape = empty
		return false
	}
	if !p.EnterObject() {
		p.shape = other
		p.Skip()
		return false
	}
	return true
}

// Row says that what is noted from now on belongs to a row of the table of
// fields. Rows count from 1 to 255.
func (p *Pass) Row(row int) { p.order = uint64(row) << 56 }

// Item says that what is noted from now on belongs to an element of the row's
// array, the first being 0, and comes before all of the element's parts.
func (p *Pass) Item(element int) { p.order = p.order>>56<<56 | uint64(element+1)<<28 }

// Part says that what is noted from now on belongs to a part of the element.
func (p *Pass) Part(part int) { p.order = p.order>>28<<28 | uint64(part) }

// Note notes a fault of the field at the path, unless one that comes earlier in
// the order of validation is known already.
func (p *Pass) Note(what string) { p.NoteValue(what, "") }

// NoteValue is Note with the value as it ends the message for the client, see
// Shown. It stays out of the log.
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

// Mark returns what was found so far.
func (p *Pass) Mark() Mark { return p.found }

// Return forgets what was noted since the mark. It is for objects whose kind,
// which decides what is required of them, may stand behind their other members.
func (p *Pass) Return(m Mark) { p.found = m }

// End ends the pass. It returns the view of a body that is right, or the fault that
// the client reads.
func (p *Pass) End() (translate.View, *fault.Fault) {
	if fault := p.fault(); fault != nil {
		return translate.View{}, fault
	}
	return p.View, nil
}

func (p *Pass) fault() *fault.Fault {
	if p.shape == empty {
		return fault.BodyEmpty()
	}
	if err := p.Finish(); err != nil {
		return p.malformed(err)
	}
	if p.shape == other {
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
