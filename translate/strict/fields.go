package strict

import (
	"bytes"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Field is a top-level member of a request that a strict pass reads.
type Field struct {
	Name  string
	Check Check
	Inner []string // of Options and Object: the members that are objects of options too
}

// Check is a requirement on the value of a field. A null means that the field is absent.
type Check uint8

// The checks.
const (
	ByCaller      Check = iota // the caller reads the value
	Model                      // the name of a model, kept in the View
	Stream                     // whether to stream, kept in the View
	StreamOptions              // the options of the stream, or null, kept in the View
	Number
	Integer // however it is written, and however large it is
	Flag
	Text
	Texts   // an array of strings
	Stop    // a string, or an array of strings
	Typed   // an object whose type is a string
	Map     // an object whose names the client chooses
	AnyMap  // any value; the names of an object are chosen by the client
	Object  // an object without repeated members
	Options // any value; an object must not have repeated members
	Tier    // any value; the service tier is kept in the View
)

// Fields is the table of the fields of a format, at most 64, in the order in which
// faults are reported. Members that are not in it are skipped.
type Fields []Field

func index[T string | []byte](fields Fields, name T) int {
	return slices.IndexFunc(fields, func(f Field) bool { return f.Name == string(name) })
}

// NextField checks the fields of the body up to one that the caller reads, and
// returns false when there are no more.
func (p *Pass) NextField() bool {
	switch {
	case p.field != "":
		p.Pop()
	case !p.enterBody():
		return false
	}
	for p.Member() {
		i := index(p.fields, p.Name())
		if i < 0 {
			p.skipField()
		} else if p.begin(&p.fields[i], i) {
			return true
		}
	}
	p.View.End = p.ObjectEnd()
	return false
}

// skipField skips the value of a member that is not in the table of fields, and notes
// what providers that ignore letter case would read in it: a field that has not been
// checked, tools, or further models. An empty value names no models.
func (p *Pass) skipField() {
	p.noteLetterCase()
	if isTools(p.Name()) {
		p.searchToolsAhead()
	}
	name, start := otherModelsName(p.Name()), p.Offset()
	p.Skip()
	if name != "" && !jsonscan.IsZero(p.body[start:p.Offset()]) {
		p.noteOtherModels(name)
	}
}

// noteLetterCase notes a member that differs from a field in its letter case alone.
func (p *Pass) noteLetterCase() {
	i := slices.IndexFunc(p.fields, func(f Field) bool { return bytes.EqualFold([]byte(f.Name), p.Name()) })
	if i >= 0 {
		p.NoteField(p.fields[i].Name, "must be written in lower case")
	}
}

// Field returns the name of the field that NextField moved to.
func (p *Pass) Field() string { return p.field }

// begin begins the field with an index, and reports whether the caller reads it.
func (p *Pass) begin(f *Field, index int) bool {
	p.Row(index + 1)
	p.Push(f.Name)
	start := p.Offset()
	if !p.Null() {
		p.given |= 1 << index
		if p.field = f.Name; f.Check == ByCaller {
			return true
		}
		p.check(f)
	}
	if f.Check == StreamOptions {
		p.View.StreamOptions = translate.Span{Start: start, End: p.Offset()}
	}
	p.Pop()
	return false
}

// check checks the value at the cursor.
func (p *Pass) check(f *Field) {
	switch f.Check {
	case Model:
		p.model()
	case Stream:
		p.View.Stream = p.Flag()
	case StreamOptions:
		p.streamOptions()
	case Number:
		p.WantNumber()
	case Integer:
		p.WantInteger()
	case Flag:
		p.Flag()
	case Text:
		p.WantString("must be a string")
	case Texts:
		p.WantStrings("must be an array of strings")
	case Stop:
		p.WantStop()
	case Typed:
		p.WantTyped()
	case Map:
		p.WantMap()
	case AnyMap:
		p.Map()
	case Object:
		p.WantObject(f.Inner...)
	case Tier:
		p.View.Terms.ReadTier(p.StringOrSkip())
	default:
		p.OptionsWith(f.Inner...)
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

// Elements reads an array; each reads one of the elements. It returns their number. For a
// value that is not an array, it notes the requirement what and returns -1.
func (p *Pass) Elements(what string, each func(i int)) (n int) {
	if !p.EnterArray() {
		p.Refuse(what)
		return -1
	}
	for ; p.Element(); n++ {
		p.PushIndex(n)
		each(n)
		p.Pop()
	}
	return n
}

// OptionsOf is Options for the member with that name, whose value is at the cursor.
func (p *Pass) OptionsOf(name string) (isObject bool) {
	p.Push(name)
	isObject = p.Options()
	p.Pop()
	return isObject
}
