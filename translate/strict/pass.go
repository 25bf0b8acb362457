// Package strict is the frame of the one strict pass over a request body. A Pass reads
// the fields of the body, a Value one value and what is in it, and Faults keeps the path
// of the value and the first fault found.
//
// Which of several faults is reported does not depend on the order of the fields in the
// body: faults of the JSON itself, repeated members included, come first, in byte order;
// then those of the fields, in the order of their table. A pass never changes the body,
// never repeats text, prompts or tool inputs in a message, and allocates nothing for a
// body without a fault but the list of its long strings.
package strict

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Pass reads the fields of one body, from Begin to End.
type Pass struct {
	Value
	View  translate.View // the properties of the body that have been read
	Notes Notes          // of the checks of the format
	File  FileData       // in the object that is being read

	kind   bodyKind
	fields Fields
	given  uint64 // the fields that the body has, a bit for each
}

// Notes are what the checks of a format note for each other, or for the end of the pass, each a
// bit of the format's choice.
type Notes uint8

// bodyKind is the kind of the body as a whole.
type bodyKind uint8

const (
	object bodyKind = iota
	empty
	other
)

// passes are empty. A check may keep a Pass for all that the compiler knows, so that each would
// be an allocation.
var passes = sync.Pool{New: func() any { return new(Pass) }}

// Begin returns a Pass over a body with these fields, up to End. Messages write paths in the
// notation.
func Begin(body []byte, notation Notation, fields Fields) *Pass {
	p := passes.Get().(*Pass)
	p.JSON.Init(body)
	p.body, p.fields = body, fields
	p.path.notation, p.found.order = notation, math.MaxUint64
	return p
}

// Read checks the fields of the body.
func (p *Pass) Read() {
	switch {
	case p.JSON.Offset() == len(p.body) && p.JSON.Err() == nil:
		p.kind = empty
		return
	case !p.JSON.EnterObject():
		p.kind = other
		p.JSON.Skip()
		return
	}
	for p.Member() {
		if i := index(p.fields, p.JSON.Name()); i >= 0 {
			p.readField(i)
		} else {
			p.skipField()
		}
	}
	p.View.StreamUsage.End = p.JSON.Offset() - len("}")
	for i := range p.fields {
		if f := &p.fields[i]; f.Must {
			p.Require(f.Name)
		}
	}
}

// readField checks the value of the field at an index of the table.
func (p *Pass) readField(i int) {
	f, isNull := &p.fields[i], p.JSON.Kind() == jsonscan.Null
	p.Row(i + 1)
	p.push(f.Name)
	if !isNull {
		if p.given>>i&1 == 1 {
			p.Note(twoSpellings)
		}
		p.given |= 1 << i
	}
	if f.Check == nil || isNull && !f.Null {
		p.JSON.Skip()
	} else {
		f.Check(p, f.Objects)
	}
	p.pop()
}

// skipField skips the value of a member that is not in the table of fields, and notes
// what providers that ignore letter case would read in it: a field that has not been
// checked, tools, or further models. An empty value names no models.
func (p *Pass) skipField() {
	i := slices.IndexFunc(p.fields, func(f Field) bool { return bytes.EqualFold([]byte(f.Name), p.JSON.Name()) })
	if i >= 0 {
		p.NoteField(p.fields[i].Name, p.fields[i].spelling())
	}
	if isTools(p.JSON.Name()) {
		p.searchToolsAhead()
	}
	name, start := otherModelsName(p.JSON.Name()), p.JSON.Offset()
	p.JSON.Skip()
	if name != "" && !jsonscan.IsZero(p.body[start:p.JSON.Offset()]) {
		p.noteOtherModels(name)
	}
}

// Since returns the part of the body from an offset up to the cursor.
func (p *Pass) Since(start int) []byte { return p.body[start:p.JSON.Offset()] }

// Has reports whether the body has a field that is not null.
func (p *Pass) Has(name string) bool { return p.given>>index(p.fields, name)&1 == 1 }

// Require notes a fault for each of the fields that the body does not have.
func (p *Pass) Require(names ...string) {
	for _, name := range names {
		if !p.Has(name) {
			p.NoteField(name, Required)
		}
	}
}

// NoteField notes a fault of a field.
func (p *Pass) NoteField(name, what string) {
	p.Row(index(p.fields, name) + 1)
	p.NoteMember(name, what)
}

// End ends the pass, which must not be used any more. It returns the view of a valid body, or
// the fault for the client.
func (p *Pass) End() (view translate.View, fault *fault.Fault) {
	p.View.Beyond.OtherModels = p.otherModels
	if fault = p.fault(); fault == nil {
		view = p.View
		view.Texts = p.JSON.Texts()
	}
	*p = Pass{}
	passes.Put(p)
	return view, fault
}

func (p *Pass) fault() *fault.Fault {
	if p.kind == empty {
		return fault.BodyEmpty()
	}
	if err := p.JSON.Finish(); err != nil {
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
