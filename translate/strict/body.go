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

// Body is a request body whose fields a Pass has checked, up to End.
type Body struct {
	Pass Pass

	kind   bodyKind
	fields Fields
	given  uint64 // the fields that the body has, a bit for each
}

// bodyKind is the kind of the body as a whole.
type bodyKind uint8

const (
	object bodyKind = iota
	empty
	other
)

// bodies are empty. A check may keep a Pass for all that the compiler knows, so that each would
// be an allocation.
var bodies = sync.Pool{New: func() any { return new(Body) }}

// Read checks the fields of a body. Messages write paths in the notation.
func Read(body []byte, notation Notation, fields Fields) *Body {
	b := begin(body, notation, fields)
	p := &b.Pass
	switch {
	case p.JSON.Offset() == len(body) && p.JSON.Err() == nil:
		b.kind = empty
	case p.JSON.EnterObject():
		b.readFields()
	default:
		b.kind = other
		p.JSON.Skip()
	}
	return b
}

func begin(body []byte, notation Notation, fields Fields) *Body {
	b := bodies.Get().(*Body)
	b.fields = fields
	p := &b.Pass
	p.JSON.Init(body)
	p.body, p.path.notation, p.found.order = body, notation, math.MaxUint64
	return b
}

func (b *Body) readFields() {
	p := &b.Pass
	for p.Member() {
		if i := index(b.fields, p.JSON.Name()); i >= 0 {
			b.readField(i)
		} else {
			b.skipField()
		}
	}
	p.View.StreamUsage.End = p.JSON.Offset() - len("}")
	for i := range b.fields {
		if f := &b.fields[i]; f.Must {
			b.Require(f.Name)
		}
	}
}

// readField checks the value of the field at an index of the table.
func (b *Body) readField(i int) {
	p := &b.Pass
	f, isNull := &b.fields[i], p.JSON.Kind() == jsonscan.Null
	p.Row(i + 1)
	p.push(f.Name)
	if !isNull {
		if b.given>>i&1 == 1 {
			p.Note(twoSpellings)
		}
		b.given |= 1 << i
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
func (b *Body) skipField() {
	p := &b.Pass
	i := slices.IndexFunc(b.fields, func(f Field) bool { return bytes.EqualFold([]byte(f.Name), p.JSON.Name()) })
	if i >= 0 {
		b.NoteField(b.fields[i].Name, b.fields[i].spelling())
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

// Has reports whether the body has a field that is not null.
func (b *Body) Has(name string) bool { return b.given>>index(b.fields, name)&1 == 1 }

// Require notes a fault for each of the fields that the body does not have.
func (b *Body) Require(names ...string) {
	for _, name := range names {
		if !b.Has(name) {
			b.NoteField(name, Required)
		}
	}
}

// NoteField notes a fault of a field.
func (b *Body) NoteField(name, what string) {
	p := &b.Pass
	p.Row(index(b.fields, name) + 1)
	p.NoteMember(name, what)
}

// End ends the pass, which must not be used any more. It returns the view of a valid body, or
// the fault for the client.
func (b *Body) End() (view translate.View, fault *fault.Fault) {
	p := &b.Pass
	p.View.Beyond.OtherModels = p.otherModels
	if fault = b.fault(); fault == nil {
		view = p.View
		view.Texts = p.JSON.Texts()
	}
	*b = Body{}
	bodies.Put(b)
	return view, fault
}

func (b *Body) fault() *fault.Fault {
	p := &b.Pass
	if b.kind == empty {
		return fault.BodyEmpty()
	}
	if err := p.JSON.Finish(); err != nil {
		return b.malformed(err)
	}
	if b.kind == other {
		return fault.BodyNotObject()
	}
	if p.found.what != "" {
		return fault.InvalidValue(p.found.at, p.found.what, p.found.value)
	}
	return nil
}

func (b *Body) malformed(err error) *fault.Fault {
	p := &b.Pass
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
