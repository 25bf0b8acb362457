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
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Pass reads the fields of one body, after Init.
type Pass struct {
	Value
	View translate.View // the properties of the body that have been read

	kind   bodyKind
	fields Fields
	field  string // the one that NextField read last, "" for none
	given  uint64 // the fields that the body has, a bit for each
}

// bodyKind is the kind of the body as a whole.
type bodyKind uint8

const (
	object bodyKind = iota
	empty
	other
)

// Init prepares a zero Pass over a body with these fields. Messages write paths in the
// notation. A Pass is not copied: it is large, and the stack of a request would grow for it.
func (p *Pass) Init(body []byte, notation Notation, fields Fields) {
	p.Cursor.Init(body)
	p.NoteTexts()
	p.body, p.fields = body, fields
	p.path.notation, p.found.order = notation, math.MaxUint64
}

// NextField checks the fields of the body up to one that the caller reads, and
// returns false when there are no more.
func (p *Pass) NextField() bool {
	switch {
	case p.field != "":
		p.Pop()
	case p.Offset() == len(p.body) && p.Err() == nil:
		p.kind = empty
		return false
	case !p.EnterObject():
		p.kind = other
		p.Skip()
		return false
	}
	for p.Member() {
		i := index(p.fields, p.Name())
		if i < 0 {
			p.skipField()
			continue
		}
		f, start := &p.fields[i], p.Offset()
		p.Row(i + 1)
		p.Push(f.Name)
		if !p.Null() {
			if f.Other != "" && p.given>>i&1 == 1 {
				p.Note(twoSpellings)
			}
			p.given |= 1 << i
			if p.field = f.Name; f.Check == ByCaller {
				return true
			}
			p.check(f)
		}
		if f.Check == StreamOptions {
			p.View.StreamUsage.Options = translate.Span{Start: start, End: p.Offset()}
		}
		p.Pop()
	}
	p.View.StreamUsage.End = p.ObjectEnd()
	return false
}

// skipField skips the value of a member that is not in the table of fields, and notes
// what providers that ignore letter case would read in it: a field that has not been
// checked, tools, or further models. An empty value names no models.
func (p *Pass) skipField() {
	i := slices.IndexFunc(p.fields, func(f Field) bool { return bytes.EqualFold([]byte(f.Name), p.Name()) })
	if i >= 0 {
		p.NoteField(p.fields[i].Name, p.fields[i].spelling())
	}
	if isTools(p.Name()) {
		p.searchToolsAhead()
	}
	name, start := otherModelsName(p.Name()), p.Offset()
	p.Skip()
	if name != "" && !jsonscan.IsZero(p.body[start:p.Offset()]) {
		p.noteOtherModels(name)
	}
}

// Field returns the name of the field that NextField moved to.
func (p *Pass) Field() string { return p.field }

// check checks the value of a field, which is at the cursor.
func (p *Pass) check(f *Field) {
	switch f.Check {
	case Model:
		p.model()
	case Stream:
		p.View.Stream = p.Flag()
	case StreamOptions:
		p.streamOptions()
	case Number:
		if _, ok := p.Number(); !ok {
			p.Refuse("must be a number" + p.Got())
		}
	case Integer:
		p.WantInteger()
	case Flag:
		p.Flag()
	case Text:
		p.WantString("must be a string")
	case Texts:
		p.wantStrings("must be an array of strings")
	case Stop:
		if _, ok := p.RawString(); !ok {
			p.wantStrings("must be a string or an array of strings")
		}
	case Typed:
		p.WantTyped()
	case Map:
		if p.Kind() != jsonscan.Object {
			p.Note("must be an object")
		}
		p.skipMap()
	case AnyMap:
		p.skipMap()
	case Object:
		p.WantObject(f.Inner...)
	case Tier:
		p.View.Costs.Terms.ReadTier(p.StringOrSkip())
	default:
		p.Options(f.Inner...)
	}
}

// maxModel bounds the name of a model, in bytes.
const maxModel = 256

// model reads the name of a model. It is the only part of a valid body that is copied.
// Logs, terminals and tables show it, so that it has no control characters.
func (p *Pass) model() {
	start := p.Offset()
	name, ok := p.Text()
	switch {
	case !ok:
		p.Refuse("must be a non-empty string" + p.Got())
	case len(name) == 0:
		p.Note("must be a non-empty string")
	case len(name) > maxModel:
		p.Note("must be at most 256 bytes long")
	case bytes.ContainsFunc(name, unicode.IsControl):
		p.Note("must have no control characters")
	default:
		p.View.Model = string(name)
	}
	p.View.ModelSpan = translate.Span{Start: start, End: p.Offset()}
}

// streamOptions reads the options of a stream, and keeps the position where an edit can ask for usage.
func (p *Pass) streamOptions() {
	if p.Kind() != jsonscan.Object {
		p.Note("must be an object")
	}
	for p.OpenObject(); p.Member(); {
		if string(p.Name()) != "include_usage" {
			p.Skip()
			continue
		}
		start := p.Offset()
		if !p.Null() {
			p.Push("include_usage")
			p.View.StreamUsage.Asked = p.Flag()
			p.Pop()
		}
		p.View.StreamUsage.Value = translate.Span{Start: start, End: p.Offset()}
	}
}

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

// maxMessages is the greatest number of messages in a request.
const maxMessages = 100_000

// Messages reads the array of messages of a conversation; each reads one of them.
func (p *Pass) Messages(each func(i int)) {
	if p.Kind() != jsonscan.Array {
		p.Refuse("must be an array" + p.Got())
		return
	}
	row := p.order
	n := p.Elements("", func(i int) {
		p.Item(i)
		each(i)
	})
	p.order = row
	switch {
	case n == 0:
		p.Note("must hold at least one message")
	case n > maxMessages:
		p.Note("must hold at most 100000 messages")
	}
}

// End ends the pass. It returns the view of a valid body, or the fault for the client.
func (p *Pass) End() (translate.View, *fault.Fault) {
	p.View.Beyond.OtherModels = p.otherModels
	if fault := p.fault(); fault != nil {
		return translate.View{}, fault
	}
	p.View.Texts = p.Texts()
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
