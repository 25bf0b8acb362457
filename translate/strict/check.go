package strict

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/files"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Check reads the value of a member, which is not null, and notes its faults. A null means
// that the member is absent. objects describes the objects in the value: the value itself,
// or the elements of an array. It is nil if the format has no row about their members.
type Check func(p *Pass, objects *Table)

// Number checks a number.
func Number(p *Pass, _ *Table) {
	if _, ok := p.JSON.Number(); !ok {
		p.Refuse("must be a number" + p.Got())
	}
}

// Between returns the check of a number between two bounds, both allowed.
func Between(low, high float64) Check { return func(p *Pass, _ *Table) { p.Between(low, high) } }

// Integer checks an integer, however it is written, and however large it is.
func Integer(p *Pass, _ *Table) { p.WantInteger() }

// Flag checks a boolean.
func Flag(p *Pass, _ *Table) { p.Flag() }

// Text checks a string.
func Text(p *Pass, _ *Table) { p.WantString("must be a string") }

// Texts checks an array of strings.
func Texts(p *Pass, _ *Table) { wantTexts(p, "must be an array of strings") }

// Stop checks a string, or an array of strings.
func Stop(p *Pass, _ *Table) {
	if _, ok := p.JSON.RawString(); !ok {
		wantTexts(p, "must be a string or an array of strings")
	}
}

func wantTexts(p *Pass, what string) {
	p.Elements(what, func(int) { p.WantString("must be a string") })
}

// OneOf returns the check of a string that is one of the words.
func OneOf(words ...string) Check {
	last := len(words) - 1
	what := "must be '" + strings.Join(words[:last], "', '") + "' or '" + words[last] + "'"
	names := jsonscan.NewNameIndex(words...)
	return func(p *Pass, _ *Table) {
		if text, ok := p.JSON.Text(); !ok {
			p.Refuse(what + p.Got())
		} else if names.Find(text) < 0 {
			p.NoteValue(what, Shown(text))
		}
	}
}

// MaxTokens returns the check of a bound, in tokens, of the answer. It is kept in the View.
func MaxTokens(most int64) Check {
	return func(p *Pass, _ *Table) { p.View.MaxTokens = max(p.View.MaxTokens, p.AtLeast(1, most)) }
}

// Answers returns the check of the number of answers. It is kept in the View.
func Answers(most int64) Check {
	return func(p *Pass, _ *Table) { p.View.Answers = p.AtLeast(1, most) }
}

// Tier reads the service tier, a value of any kind. It is kept in the View.
func Tier(p *Pass, _ *Table) { p.View.Costs.Terms.ReadTier(p.JSON.StringOrSkip()) }

// WantOptions is Options for a value that must be an object.
func WantOptions(p *Pass, _ *Table) {
	wantObject(p)
	Options(p, nil)
}

// WantGroups is Groups for a value that must be an object.
func WantGroups(p *Pass, objects *Table) {
	wantObject(p)
	Groups(p, objects)
}

// Map checks an object whose names the client chooses and which are therefore case-sensitive.
func Map(p *Pass, objects *Table) {
	wantObject(p)
	AnyMap(p, objects)
}

// AnyMap is Map for a value of any kind.
func AnyMap(p *Pass, _ *Table) {
	if !p.JSON.EnterMap() {
		p.JSON.Skip()
		return
	}
	for p.Member() {
		p.JSON.Skip()
	}
}

// Object checks an object, and its members.
func Object(p *Pass, objects *Table) { p.Object(new(Members), objects) }

// If returns a check of the values of a kind. A value of another kind is skipped: what the member must be
// is for its row to say.
func If(kind jsonscan.Kind, check Check) Check {
	return func(p *Pass, objects *Table) {
		if p.JSON.Kind() == kind {
			check(p, objects)
		} else {
			p.JSON.Skip()
		}
	}
}

// Inside checks an object, and its members, as Object does, and Elements the objects of an array as Objects
// does. A value of another kind is skipped.
var (
	Inside   = If(jsonscan.Object, Object)
	Elements = If(jsonscan.Array, Objects)
)

// Objects checks an array of objects.
func Objects(p *Pass, objects *Table) {
	isField := p.path.len == 1
	p.Elements("must be an array of objects", func(i int) {
		if isField {
			p.Item(i)
		}
		Object(p, objects)
	})
}

// MediaType reads the media type of a file beside its data, for Pass.File.
func MediaType(p *Pass, _ *Table) {
	p.File.Kind = files.KindOf(jsonscan.DecodedOf(p.JSON.StringOrSkip()))
}

// Data reads the data of a file, for Pass.File.
func Data(p *Pass, _ *Table) { p.File.Data = jsonscan.Inner(p.JSON.StringOrSkip()) }

// File returns the check of a file of a kind in a content, which counts its tokens.
func File(kind files.Kind) Check { return func(p *Pass, _ *Table) { p.ReadFile(kind) } }

// maxModel bounds the name of a model, in bytes.
const maxModel = 256

// Model checks the name of a model. It is the only part of a valid body that is copied.
// Logs, terminals and tables show it, so that it has no control characters.
func Model(p *Pass, _ *Table) {
	start := p.JSON.Offset()
	name, ok := p.JSON.Text()
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
	p.View.ModelSpan = translate.Span{Start: start, End: p.JSON.Offset()}
}

// Stream checks whether to stream. It is kept in the View.
func Stream(p *Pass, _ *Table) { p.View.Stream = p.Flag() }

// StreamOptions checks the options of a stream, or a null, and keeps the position where an edit can
// ask for usage.
func StreamOptions(p *Pass, _ *Table) {
	at := &p.View.StreamUsage
	at.Options.Start = p.JSON.Offset()
	if !p.JSON.Null() {
		wantObject(p)
		for p.JSON.OpenObject(); p.Member(); {
			if string(p.JSON.Name()) == "include_usage" {
				usageFlag(p, at)
			} else {
				p.JSON.Skip()
			}
		}
	}
	at.Options.End = p.JSON.Offset()
}

// usageFlag reads whether a stream is to end with its usage.
func usageFlag(p *Pass, at *translate.StreamUsage) {
	at.Value.Start = p.JSON.Offset()
	if !p.JSON.Null() {
		p.push("include_usage")
		at.Asked = p.Flag()
		p.pop()
	}
	at.Value.End = p.JSON.Offset()
}

// maxMessages is the greatest number of messages in a request.
const maxMessages = 100_000

// Messages reads the array of messages of a conversation; each reads one of them.
func (p *Pass) Messages(each func(i int)) {
	if p.JSON.Kind() != jsonscan.Array {
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
